"""Scripts that make the trained weights again; the program itself never imports them."""
