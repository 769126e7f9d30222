import { Select, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { AcceleratorChoice, Price } from '@/api/schema';
import { sayReason } from '../places/sayReason';

interface AcceleratorFieldProps {
  /** Those of the chosen place; none while it is not known. */
  kinds: readonly AcceleratorChoice[];
  prices: readonly Price[];
  value: string;
  error?: React.ReactNode;
  onChange: (kind: string) => void;
}

/** The kind of a run's GPUs, of those that its cluster has; below it, why others cannot be chosen. */
export function AcceleratorField({ kinds, prices, value, error, onChange }: AcceleratorFieldProps) {
  const { t } = useTranslation();
  const labelOf = ({ kind, total, free }: AcceleratorChoice) => {
    const room = free === null ? `${total} × ${kind}` : t('wizard.freeOf', { kind, total, free });
    const price = prices.find((one) => one.kind === kind);
    return price ? `${room} · ${t('wizard.perHour', { price: Number(price.per_hour), ...price })}` : room;
  };
  const options = kinds.map((one) => ({ value: one.kind, label: labelOf(one), disabled: one.reason !== null }));
  // A kind that the cluster does not have stays visible: the server says what is wrong with it.
  const chosen = value && !kinds.some(({ kind }) => kind === value) ? [{ value, label: value }] : [];
  return (
    <Stack gap={4}>
      <Select
        label={t('wizard.accelerator')}
        data={[{ value: '', label: t('wizard.anyAccelerator') }, ...options, ...chosen]}
        value={value}
        error={error}
        allowDeselect={false}
        onChange={(kind) => onChange(kind ?? '')}
      />
      {kinds.map(
        ({ kind, reason }) =>
          reason && (
            <Text key={kind} size="xs" c="dimmed">
              {sayReason(reason)}
            </Text>
          ),
      )}
    </Stack>
  );
}
