"The paper's learners, their parts and their bounds."
