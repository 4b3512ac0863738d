"Experts as they are, and the learners that stand them."
