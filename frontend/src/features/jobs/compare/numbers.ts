export const MIN_COMPARED = 2;
export const MAX_COMPARED = 50;

export const joined = (numbers: Iterable<number>): string => [...numbers].sort((a, b) => a - b).join(',');
