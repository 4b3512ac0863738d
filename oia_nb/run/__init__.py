"A run: the protocol of a learner, its registry, experiments, sessions."
