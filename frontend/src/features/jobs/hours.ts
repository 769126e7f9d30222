import type { Format } from '@/shared/format';

/** Hours with the digits that matter: `0.1022`, `12.4`, `224,018`. */
export const hoursText = (format: Format, hours: number): string =>
  hours < 100 ? format.metric(hours) : format.number(Math.round(hours));
