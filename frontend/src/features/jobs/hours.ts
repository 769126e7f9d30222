import type { Format } from '@/shared/ui/format';

const LEAST = 0.001;

/** Hours with the digits that matter: `< 0.001`, `0.1022`, `12.4`, `224,018`. */
export function hoursText(format: Format, hours: number): string {
  if (hours > 0 && hours < LEAST) return `< ${format.metric(LEAST)}`;
  return hours < 100 ? format.metric(hours) : format.number(Math.round(hours));
}
