"""Memory inside a frozen language model: a state of vectors that is written and read between its layers.

`model.NeuralMemoryModel` wraps a causal model of the library transformers; `memory.NeuralMemory` is the arm `neural`
of the chat. docs/neural.md has the formulas. Nothing here is imported unless it is asked for.
"""
