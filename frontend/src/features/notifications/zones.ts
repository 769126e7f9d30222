const UTC = 'UTC';

/** The time zone that this browser shows times in. */
export function browserZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone || UTC;
}

/** The names that this browser knows, and these, which it may know by another name. */
export function zones(...more: string[]): string[] {
  return [...new Set([UTC, ...Intl.supportedValuesOf('timeZone'), ...more])].sort();
}

/** How people read a zone's name: `America/New York`. */
export const zoneName = (zone: string) => zone.replaceAll('_', ' ');

/** The hours of a day, as clocks show them. */
export const hours = () =>
  Array.from({ length: 24 }, (_, hour) => ({ value: String(hour), label: `${String(hour).padStart(2, '0')}:00` }));

/** A time by the clocks of a zone, with the zone in words; by our own, if this browser does not know it. */
export function dueText(iso: string, zone: string, language: string): string {
  const shape: Intl.DateTimeFormatOptions = {
    weekday: 'long',
    month: 'long',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZoneName: 'long',
  };
  const at = new Date(iso);
  try {
    return new Intl.DateTimeFormat(language, { ...shape, timeZone: zone }).format(at);
  } catch {
    return new Intl.DateTimeFormat(language, shape).format(at);
  }
}
