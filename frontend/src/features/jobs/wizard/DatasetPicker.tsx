import { Group, Input, Select } from '@mantine/core';
import { useId } from 'react';
import { useTranslation } from 'react-i18next';
import { DatasetSelect } from '@/shared/domain/DatasetSelect';
import { useFormat } from '@/shared/ui/format';
import { useVersions } from '../queries';

export interface DatasetPickerProps {
  label: string;
  description?: string;
  error?: string;
  withAsterisk?: boolean;
  /** `name@ref`, or empty. */
  value: string;
  onChange: (value: string) => void;
}

export function splitReference(value: string): [dataset: string, ref: string] {
  const at = value.lastIndexOf('@');
  return at === -1 ? [value, ''] : [value.slice(0, at), value.slice(at + 1)];
}

/** A dataset and one of its versions; the newest version unless another is chosen. */
export function DatasetPicker({ label, description, error, withAsterisk, value, onChange }: DatasetPickerProps) {
  const { t } = useTranslation();
  const format = useFormat();
  const id = useId();
  const [dataset, ref] = splitReference(value);
  const versions = useVersions(dataset);
  const known = (versions.data?.results ?? []).map((version) => ({
    value: version.ref,
    label: t('wizard.versionOption', {
      ref: version.ref,
      count: version.file_count,
      size: format.bytes(version.size_bytes),
    }),
  }));
  const refs = ref && !known.some((one) => one.value === ref) ? [{ value: ref, label: ref }, ...known] : known;
  return (
    <Input.Wrapper
      label={label}
      description={description}
      error={error}
      withAsterisk={withAsterisk}
      labelElement="div"
      id={id}
    >
      <Group gap="xs" wrap="nowrap" mt={4}>
        <DatasetSelect
          flex={1}
          aria-label={t('wizard.datasetOf', { label })}
          placeholder={t('wizard.pickDataset')}
          // The focus may be put here to show an error, which the open list would cover.
          openOnFocus={false}
          value={dataset || null}
          onChange={(name, latest) => onChange(name ? `${name}@${latest}` : '')}
          error={Boolean(error)}
          nothingFoundMessage={t('wizard.noDatasets')}
        />
        <Select
          flex={1}
          aria-label={t('wizard.versionOf', { label })}
          data-version-of={label}
          openOnFocus={false}
          placeholder={t('wizard.version')}
          disabled={!dataset}
          data={refs}
          value={ref || null}
          allowDeselect={false}
          onChange={(next) => onChange(`${dataset}@${next ?? 'main'}`)}
          error={Boolean(error)}
        />
      </Group>
    </Input.Wrapper>
  );
}
