import { useTranslation } from 'react-i18next';

const BYTE_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const;

export interface Format {
  /** `12,345` */
  number: (value: number, digits?: number) => string;
  /** `12K`, `1.2万` */
  compact: (value: number) => string;
  /** `0.42` → `42 %` */
  percent: (ratio: number, digits?: number) => string;
  /** Binary units: `312.4 GiB` */
  bytes: (sizeBytes: number) => string;
  /** `2h 14m`, `3m 05s`, `0.4s`; `2小时14分` */
  duration: (seconds: number) => string;
  /** Four significant digits; tiny and huge values in exponent form. */
  metric: (value: number) => string;
  dateTime: (iso: string | Date) => string;
  date: (iso: string | Date) => string;
  /** `Today`, `Yesterday`, or the date */
  day: (iso: string | Date, nowMs?: number) => string;
  /** Hours and minutes: `14:05` */
  time: (iso: string | Date) => string;
  /** `3 minutes ago`, `in 2 days` */
  relative: (iso: string | Date, nowMs?: number) => string;
}

interface DurationUnits {
  days: string;
  hours: string;
  minutes: string;
  seconds: string;
  /** Between two amounts. */
  gap: string;
}

const DURATION_UNITS: Record<'en' | 'zh', DurationUnits> = {
  en: { days: 'd', hours: 'h', minutes: 'm', seconds: 's', gap: ' ' },
  zh: { days: '天', hours: '小时', minutes: '分', seconds: '秒', gap: '' },
};

export function formatDuration(seconds: number, locale = 'en'): string {
  const unit = DURATION_UNITS[locale.startsWith('zh') ? 'zh' : 'en'];
  if (!Number.isFinite(seconds) || seconds < 0) return '–';
  if (seconds < 10) return `${seconds < 1 && seconds > 0 ? seconds.toFixed(2) : seconds.toFixed(1)}${unit.seconds}`;
  const total = Math.round(seconds);
  const [d, h, m, s] = [
    Math.floor(total / 86_400),
    Math.floor(total / 3600) % 24,
    Math.floor(total / 60) % 60,
    total % 60,
  ];
  const two = (value: number) => String(value).padStart(2, '0');
  if (d > 0) return `${d}${unit.days}${unit.gap}${two(h)}${unit.hours}`;
  if (h > 0) return `${h}${unit.hours}${unit.gap}${two(m)}${unit.minutes}`;
  const left = `${m > 0 ? two(s) : s}${unit.seconds}`;
  return m > 0 ? `${m}${unit.minutes}${unit.gap}${left}` : left;
}

const RELATIVE_STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['second', 60],
  ['minute', 60],
  ['hour', 24],
  ['day', 30],
  ['month', 12],
  ['year', Number.POSITIVE_INFINITY],
];

function relativeTo(rtf: Intl.RelativeTimeFormat, seconds: number): string {
  let value = seconds;
  for (const [unit, size] of RELATIVE_STEPS) {
    if (Math.abs(value) < size) return rtf.format(Math.round(value), unit);
    value /= size;
  }
  return '';
}

/** The number of a day in the time zone of the browser. */
const localDay = (at: Date) => Date.UTC(at.getFullYear(), at.getMonth(), at.getDate()) / 86_400_000;

/** Asks `make` only once for each argument. */
function remember<Key, Made>(make: (key: Key) => Made): (key: Key) => Made {
  const made = new Map<Key, Made>();
  return (key) => {
    const found = made.get(key) ?? make(key);
    made.set(key, found);
    return found;
  };
}

function once<Made>(make: () => Made): () => Made {
  const made = remember((_: null) => make());
  return () => made(null);
}

/** All numbers, sizes and dates of the portal, in the words of `locale` (`en`, `zh`). Each is prepared at its first use. */
export function createFormat(locale: string): Format {
  const relative = once(() => new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }));
  const dateTime = once(() => new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' }));
  const date = once(() => new Intl.DateTimeFormat(locale, { dateStyle: 'medium' }));
  const time = once(() => new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', hour12: false }));
  const compact = once(() => new Intl.NumberFormat(locale, { notation: 'compact', maximumFractionDigits: 1 }));
  const significant = once(() => new Intl.NumberFormat(locale, { maximumSignificantDigits: 4, useGrouping: false }));
  const plain = remember((digits: number) => new Intl.NumberFormat(locale, { maximumFractionDigits: digits }));
  const ratios = remember(
    (digits: number) => new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: digits }),
  );
  const number = (value: number, digits = 0) => plain(digits).format(value);
  return {
    number,
    compact: (value) => compact().format(value),
    percent: (ratio, digits = 0) => ratios(digits).format(ratio),
    bytes: (sizeBytes) => {
      const power = sizeBytes < 1024 ? 0 : Math.min(5, Math.floor(Math.log2(sizeBytes) / 10));
      return `${number(sizeBytes / 1024 ** power, power === 0 ? 0 : 1)} ${BYTE_UNITS[power]}`;
    },
    duration: (seconds) => formatDuration(seconds, locale),
    metric: (value) => {
      const size = Math.abs(value);
      if (!Number.isFinite(value)) return String(value);
      return size !== 0 && (size < 1e-3 || size >= 1e6) ? value.toExponential(2) : significant().format(value);
    },
    dateTime: (iso) => dateTime().format(new Date(iso)),
    date: (iso) => date().format(new Date(iso)),
    day: (iso, nowMs = Date.now()) => {
      const ago = localDay(new Date(iso)) - localDay(new Date(nowMs));
      if (ago !== 0 && ago !== -1) return date().format(new Date(iso));
      const word = relative().format(ago, 'day');
      return word.charAt(0).toLocaleUpperCase(locale) + word.slice(1);
    },
    time: (iso) => time().format(new Date(iso)),
    relative: (iso, nowMs = Date.now()) => relativeTo(relative(), (new Date(iso).getTime() - nowMs) / 1000),
  };
}

const formatOf = remember(createFormat);

/** One for all components: what `Intl` prepares costs milliseconds, and a page has a hundred that ask. */
export function useFormat(): Format {
  const { i18n } = useTranslation();
  return formatOf(i18n.language);
}
