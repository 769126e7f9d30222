/** Reads of a confusion matrix, `matrix[truth][predicted]` counts. Pure. */
export interface ClassScore {
  label: string;
  /** Samples of this class. */
  support: number;
  /** Share of this class's samples that were found (recall), null without samples. */
  recall: number | null;
  /** Share of the answers of this class that were right, null when it was never answered. */
  precision: number | null;
  f1: number | null;
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

export function classScores(labels: readonly string[], matrix: readonly (readonly number[])[]): ClassScore[] {
  return labels.map((label, index) => {
    const hits = matrix[index]?.[index] ?? 0;
    const support = sum(matrix[index] ?? []);
    const answered = sum(matrix.map((row) => row[index] ?? 0));
    const recall = support > 0 ? hits / support : null;
    const precision = answered > 0 ? hits / answered : null;
    const f1 =
      recall === null || precision === null
        ? null
        : recall + precision === 0
          ? 0
          : (2 * recall * precision) / (recall + precision);
    return { label, support, recall, precision, f1 };
  });
}

export interface Confusion {
  truth: string;
  predicted: string;
  count: number;
}

interface Mistake {
  row: number;
  column: number;
  count: number;
}

/** The `limit` most frequent mistakes, most frequent first; two thousand labels have four million cells. */
function mistakes(matrix: readonly (readonly number[])[], limit: number): Mistake[] {
  const found: Mistake[] = [];
  let least = 0;
  const cut = () => {
    found.sort((a, b) => b.count - a.count);
    found.length = Math.min(found.length, limit);
  };
  for (const [row, counts] of matrix.entries())
    for (let column = 0; column < counts.length; column++) {
      const count = counts[column] as number;
      if (row === column || count <= least) continue;
      found.push({ row, column, count });
      if (found.length < 2 * limit) continue;
      cut();
      least = found.at(-1)?.count ?? 0;
    }
  cut();
  return found;
}

/** The most frequent mistakes, most frequent first. */
export function worstConfusions(
  labels: readonly string[],
  matrix: readonly (readonly number[])[],
  limit = 5,
): Confusion[] {
  const word = (index: number) => labels[index] ?? '';
  return mistakes(matrix, limit).map(({ row, column, count }) => ({
    truth: word(row),
    predicted: word(column),
    count,
  }));
}

/** The labels, at most `most` and in their order, that the most frequent mistakes are about; then the first ones. */
export function worstLabels(matrix: readonly (readonly number[])[], most: number): number[] {
  const chosen = new Set<number>();
  // As many as there are between so many labels: one more of them is about another label.
  for (const { row, column } of mistakes(matrix, most * most)) {
    const added = Number(!chosen.has(row)) + Number(!chosen.has(column));
    if (chosen.size + added > most) break;
    chosen.add(row).add(column);
  }
  for (let index = 0; index < matrix.length && chosen.size < most; index++) chosen.add(index);
  return [...chosen].sort((a, b) => a - b);
}
