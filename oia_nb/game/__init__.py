"The game: information, scoring rules, the best rule, oracles, tickets."
