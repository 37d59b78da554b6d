// How many mites are too many? Oskar's calculator for the sugar roll.
//
// Take half a cup of bees from a brood frame (about 300; look twice for the queen), shake them with
// icing sugar for a minute, count the mites that fall out, let the bees go. They are cross, and clean.
//
//     node mite-count.js 9 300 august

const BEES_IN_HALF_A_CUP = 300;

/** Mites per hundred bees above which a colony is treated, by month. */
const TREATMENT_THRESHOLDS = {
  may: 2,
  june: 2,
  july: 2,
  august: 3,
  september: 3,
};

/** Mites per hundred bees, to one decimal place. */
function mitesPerHundredBees(mites, bees = BEES_IN_HALF_A_CUP) {
  if (!Number.isInteger(mites) || mites < 0) {
    throw new RangeError(`mites must be a whole number, got ${mites}`);
  }
  if (!(bees > 0)) {
    throw new RangeError(`bees must be a positive number, got ${bees}`);
  }
  return Math.round((mites / bees) * 1000) / 10;
}

class MiteReport {
  constructor(hive, month, mites, bees = BEES_IN_HALF_A_CUP) {
    this.hive = hive;
    this.month = month.toLowerCase();
    this.rate = mitesPerHundredBees(mites, bees);
  }

  /** In winter there is no threshold: oxalic acid is trickled in December whatever the count says. */
  get threshold() {
    return TREATMENT_THRESHOLDS[this.month] ?? null;
  }

  mustTreat() {
    return this.threshold !== null && this.rate >= this.threshold;
  }

  toString() {
    const verdict = this.mustTreat() ? "treat now" : "leave them in peace";
    return `hive ${this.hive}, ${this.month}: ${this.rate} mites per hundred bees, ${verdict}`;
  }
}

if (require.main === module) {
  const [mites, bees, month] = process.argv.slice(2);
  console.log(String(new MiteReport("?", month, Number(mites), Number(bees))));
}

module.exports = { MiteReport, mitesPerHundredBees, TREATMENT_THRESHOLDS };
