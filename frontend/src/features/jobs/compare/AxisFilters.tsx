import { Fieldset, Group, MultiSelect, NumberInput, SimpleGrid, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useFormat } from '@/shared/ui/format';
import type { Axis, Within } from './axes';
import classes from './compare.module.css';

interface AxisFiltersProps {
  axes: Axis[];
  within: Within;
  onChange: (name: string, filter: Within[string] | undefined) => void;
}

/** The filters that brushes on the axes make, as fields. */
export function AxisFilters({ axes, within, onChange }: AxisFiltersProps) {
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 3, lg: 4 }} spacing="sm" verticalSpacing="xs" mt="sm">
      {axes.map((axis) =>
        axis.categories ? (
          <MultiSelect
            key={axis.name}
            size="xs"
            label={axis.name}
            data={axis.categories}
            clearable
            value={(within[axis.name] ?? []).map(String)}
            onChange={(chosen) => onChange(axis.name, chosen.length > 0 ? chosen : undefined)}
          />
        ) : (
          <RangeFields key={axis.name} axis={axis} filter={within[axis.name]} onChange={onChange} />
        ),
      )}
    </SimpleGrid>
  );
}

interface RangeFieldsProps {
  axis: Axis;
  filter: Within[string] | undefined;
  onChange: AxisFiltersProps['onChange'];
}

function RangeFields({ axis, filter, onChange }: RangeFieldsProps) {
  const format = useFormat();
  const { t } = useTranslation();
  const whole = axis.range as [number, number];
  const [from, to] = filter && typeof filter[0] === 'number' ? (filter as [number, number]) : [undefined, undefined];
  const set = (low: number | undefined, high: number | undefined) =>
    onChange(axis.name, low === undefined && high === undefined ? undefined : [low ?? whole[0], high ?? whole[1]]);
  const read = (value: string | number) =>
    value === '' || !Number.isFinite(Number(value)) ? undefined : Number(value);
  return (
    <Fieldset variant="unstyled" legend={axis.name} classNames={{ legend: classes.legend }}>
      <Group gap={4} wrap="nowrap">
        <NumberInput
          size="xs"
          hideControls
          aria-label={t('compare.from', { name: axis.name })}
          placeholder={format.metric(whole[0])}
          value={from ?? ''}
          onChange={(value) => set(read(value), to)}
        />
        <Text size="xs" c="dimmed">
          –
        </Text>
        <NumberInput
          size="xs"
          hideControls
          aria-label={t('compare.to', { name: axis.name })}
          placeholder={format.metric(whole[1])}
          value={to ?? ''}
          onChange={(value) => set(from, read(value))}
        />
      </Group>
    </Fieldset>
  );
}
