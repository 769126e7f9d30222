import type { TFunction } from 'i18next';
import type { HealthFinding } from '@/api/schema';
import type { Format } from '@/shared/ui/format';
import type { health } from '../words/health.en';

type Names = keyof typeof health.names;
type Says = keyof typeof health.says;
type Todo = keyof typeof health.todo;

/** Parts that answer or do not; they share their sentences. */
const ASKED = ['postgresql', 'valkey', 'object_store', 'clock', 'gateway'];

export interface Words {
  name: string;
  says: string;
  /** The next step; empty where nothing is to be done. */
  todo: string;
}

/** A finding in the reader's language; what this portal does not know yet is said in the server's English. */
export function wordsOf(finding: HealthFinding, t: TFunction, format: Format): Words {
  const { code, level, detail, action } = finding;
  const figures = shown(finding.figures, format);
  const asked = ASKED.includes(code);
  const clockWrong = code === 'clock' && finding.figures.error === 'ClockWrongError';
  const says = clockWrong ? 'clockWrong' : asked ? (level === 'ok' ? 'answers' : 'silent') : code;
  const todo = clockWrong ? 'clock' : asked ? 'silent' : code;
  return {
    name: t(`health.names.${code as Names}`, { defaultValue: code }),
    says: t(`health.says.${says as Says}`, { ...figures, defaultValue: detail }),
    todo: action && t(`health.todo.${todo as Todo}`, { ...figures, defaultValue: action }),
  };
}

function shown(figures: HealthFinding['figures'], format: Format): Record<string, unknown> {
  const write = ([name, value]: [string, unknown]): [string, unknown] => {
    if (typeof value !== 'number') return [name, value];
    if (name.endsWith('_bytes')) return [name, format.bytes(value)];
    if (name.endsWith('_s')) return [name, format.duration(value)];
    return [name, format.number(value, 1)];
  };
  return Object.fromEntries(Object.entries(figures).map(write));
}
