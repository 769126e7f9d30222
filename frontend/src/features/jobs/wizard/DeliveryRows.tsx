import { Group, Input, SegmentedControl, Stack, Text } from '@mantine/core';
import { useId } from 'react';
import { useTranslation } from 'react-i18next';
import type { Delivery } from './draft';
import { variableOf } from './draftRequest';

const DELIVERIES: Delivery[] = ['packs', 'mount', 'stream'];

interface DeliveryRowsProps {
  inputs: string[];
  deliveries: Record<string, Delivery>;
  errors: Record<string, string>;
  onChange: (deliveries: Record<string, Delivery>) => void;
}

/** For each dataset that the run reads, how its data gets there, with a line about the choice. */
export function DeliveryRows({ inputs, deliveries, errors, onChange }: DeliveryRowsProps) {
  const { t } = useTranslation();
  if (inputs.length === 0) return null;
  return (
    <Stack gap={6} role="group" aria-label={t('wizard.delivery')}>
      <Text size="sm" fw={500}>
        {t('wizard.delivery')}
      </Text>
      {inputs.map((input) => (
        <DeliveryRow
          key={input}
          input={input}
          value={deliveries[input] ?? 'packs'}
          error={errors[`deliveries.${input}`]}
          onChange={(how) => onChange({ ...deliveries, [input]: how })}
        />
      ))}
    </Stack>
  );
}

interface DeliveryRowProps {
  input: string;
  value: Delivery;
  error: string | undefined;
  onChange: (how: Delivery) => void;
}

function DeliveryRow({ input, value, error, onChange }: DeliveryRowProps) {
  const { t } = useTranslation();
  const hint = useId();
  return (
    <div>
      <Group gap="sm">
        <Text size="sm" miw={90}>
          {input}
        </Text>
        <SegmentedControl
          aria-label={t('wizard.deliveryOf', { input })}
          aria-describedby={hint}
          value={value}
          onChange={(how) => onChange(how as Delivery)}
          data={DELIVERIES.map((how) => ({ value: how, label: t(`jobs.delivery.${how}`) }))}
        />
      </Group>
      <Text id={hint} size="xs" c="dimmed" mt={4}>
        {t(`jobs.deliveryHint.${value}`, { variable: `$${variableOf(input)}` })}
      </Text>
      {error && <Input.Error mt={4}>{error}</Input.Error>}
    </div>
  );
}
