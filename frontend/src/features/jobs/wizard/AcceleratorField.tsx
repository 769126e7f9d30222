import { Select, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { sentenceOf } from '@/api/errors';
import type { ClusterChoice } from '@/api/schema';
import { sayDetail } from '@/i18n';

type Kind = ClusterChoice['accelerators'][number];

interface AcceleratorFieldProps {
  /** The cluster that was chosen; undefined while it is not known. */
  choice: ClusterChoice | undefined;
  value: string;
  error?: React.ReactNode;
  onChange: (kind: string) => void;
}

/** The kind of a run's GPUs, of those that its cluster has; below it, why others cannot be chosen. */
export function AcceleratorField({ choice, value, error, onChange }: AcceleratorFieldProps) {
  const { t } = useTranslation();
  const kinds = choice?.accelerators ?? [];
  const labelOf = ({ kind, total, free }: Kind) => {
    const room = free === null ? `${total} × ${kind}` : t('wizard.freeOf', { kind, total, free });
    const price = choice?.prices.find((one) => one.kind === kind);
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
              {sayDetail(
                reason.sentence,
                sentenceOf({ detail_code: reason.code, detail_params: reason.params }) ?? undefined,
              )}
            </Text>
          ),
      )}
    </Stack>
  );
}
