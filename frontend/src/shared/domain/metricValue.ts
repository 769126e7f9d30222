/** The last value of a metric as the API says it: JSON has no NaN and no infinity. */
export type MetricValue = number | 'NaN' | 'Infinity' | '-Infinity';

/** As a number of JavaScript, which has all of them. */
export const numberOf = (value: MetricValue): number => Number(value);

export const numbersOf = (values: readonly MetricValue[]): number[] => values.map(numberOf);
