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

/** The most frequent mistakes, most frequent first. */
export function worstConfusions(
  labels: readonly string[],
  matrix: readonly (readonly number[])[],
  limit = 5,
): Confusion[] {
  const all = labels.flatMap((truth, i) =>
    labels.flatMap((predicted, j) => {
      const count = matrix[i]?.[j] ?? 0;
      return i !== j && count > 0 ? [{ truth, predicted, count }] : [];
    }),
  );
  return all.sort((a, b) => b.count - a.count).slice(0, limit);
}
