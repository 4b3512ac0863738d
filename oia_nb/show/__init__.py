"What is shown of a world and of a run: facts, views, figures, documents."
