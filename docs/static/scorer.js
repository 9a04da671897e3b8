// A search shows guides first: a reference and the law of a place answer whoever names what is in them.
"use strict";
const BEHIND = [["law/", 0.2], ["reference/", 0.5], ["tables/", 0.6], ["notebooks/", 0.6], ["commands", 0.8]];
var Scorer = {
  score: (result) => {
    const [page, , , , score] = result;
    const found = BEHIND.find(([begin]) => page.startsWith(begin));
    return found ? score * found[1] : score + 10;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
