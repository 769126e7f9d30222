import { Select, Text } from '@mantine/core';
import { IconGitBranch } from '@tabler/icons-react';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Version } from '@/api/contract/datasets';
import { useRefs, useVersions } from '../queries';

interface VersionPickerProps {
  name: string;
  /** The ref in the URL: a version, branch, tag or digest prefix. */
  value: string | undefined;
  version?: Version;
  onChange: (ref: string) => void;
  label?: string;
  width?: number;
}

/** Every version, branch and tag of a dataset, searchable. */
export function VersionPicker({ name, value, version, onChange, label, width = 120 }: VersionPickerProps) {
  const { t } = useTranslation();
  const versions = useVersions(name).rows;
  const { branches, tags } = useRefs(name);
  const messages = new Map(versions?.map((one) => [one.ref, one.message]));
  if (version) messages.set(version.ref, version.message);
  const data = useMemo(() => {
    const numbered = (versions ?? []).filter(({ number }) => number !== null).map((one) => one.ref);
    const names = { branches: branches.map((one) => one.name), tags: tags.map((one) => one.name) };
    const known = new Set([...numbered, ...names.branches, ...names.tags]);
    // A digest prefix, or a version beyond the first page.
    const other = value && !known.has(value) ? [value] : [];
    const groups = [
      { group: t('datasets.versionGroup'), items: [...other, ...numbered] },
      { group: t('datasets.branches'), items: names.branches },
      { group: t('datasets.tags'), items: names.tags },
    ];
    return groups.filter((group) => group.items.length > 0);
  }, [versions, branches, tags, value, t]);
  return (
    <Select
      aria-label={label ? undefined : t('datasets.version')}
      label={label}
      size="xs"
      w={width}
      leftSection={<IconGitBranch size={14} />}
      data={data}
      value={value ?? null}
      onChange={(ref) => ref && onChange(ref)}
      renderOption={({ option }) => (
        <Text size="sm" truncate>
          {option.value}{' '}
          <Text span inherit c="dimmed">
            {messages.get(option.value)}
          </Text>
        </Text>
      )}
      searchable
      allowDeselect={false}
      maxDropdownHeight={320}
      comboboxProps={{ width: 300, position: 'bottom-start' }}
    />
  );
}
