import { Select } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { DatasetPreflight } from '@/api/contract/jobs';
import type { ParameterFieldProps } from './ParameterField';

/** One of the splits that the chosen version has, with the number of its files. */
export function SplitField({
  parameter,
  look,
  value,
  error,
  onChange,
}: ParameterFieldProps & { look: DatasetPreflight | undefined }) {
  const { t } = useTranslation();
  const chosen = value == null ? '' : String(value);
  const splits = Object.entries(look?.splits ?? {});
  // Files in no split belong to "train".
  const train = look && look.unsplit > 0 ? look.unsplit + (look.splits.train ?? 0) : undefined;
  const counts = new Map<string, number | undefined>([...splits, ...(train ? [['train', train] as const] : [])]);
  if (chosen && !counts.has(chosen)) counts.set(chosen, look?.exact ? 0 : undefined);
  return (
    <Select
      label={parameter.title || parameter.name}
      description={parameter.help || undefined}
      error={error}
      withAsterisk={parameter.required}
      placeholder={t('preflight.pickSplit')}
      data={[...counts].map(([name, count]) => ({
        value: name,
        label: count === undefined ? name : t('preflight.splitFiles', { name, count }),
      }))}
      value={chosen || null}
      allowDeselect={false}
      openOnFocus={false}
      onChange={onChange}
    />
  );
}
