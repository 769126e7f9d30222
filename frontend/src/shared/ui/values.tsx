import { Text } from '@mantine/core';
import { useFormat } from './format';
import { useNow } from './RelativeTime';

const Dash = () => (
  <Text span inherit c="dimmed">
    –
  </Text>
);

export function Bytes({ value }: { value: number | null | undefined }) {
  const format = useFormat();
  return value == null ? <Dash /> : <span className="tabular">{format.bytes(value)}</span>;
}

export function Count({ value, compact = false }: { value: number | null | undefined; compact?: boolean }) {
  const format = useFormat();
  if (value == null) return <Dash />;
  return <span className="tabular">{compact ? format.compact(value) : format.number(value)}</span>;
}

export function Duration({ seconds }: { seconds: number | null | undefined }) {
  const format = useFormat();
  return seconds == null ? <Dash /> : <span className="tabular">{format.duration(seconds)}</span>;
}

/** Time from `from` to `to`; while `to` is null it counts on. */
export function Elapsed({ from, to }: { from: string | null | undefined; to?: string | null }) {
  const now = useNow(!to);
  if (!from) return <Dash />;
  const endMs = to ? Date.parse(to) : Math.max(now ?? 0, Date.now());
  return <Duration seconds={Math.max(0, (endMs - Date.parse(from)) / 1000)} />;
}
