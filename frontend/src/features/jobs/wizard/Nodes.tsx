import { Select, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Resources } from '@/api/contract/jobs';
import { useFormat } from '@/shared/ui/format';
import type { Launcher as LauncherName } from './draft';

const LAUNCHERS = ['plain', 'torchrun', 'tensorflow', 'hostfile'] as const satisfies readonly LauncherName[];

interface LauncherProps {
  value: LauncherName;
  error?: string | undefined;
  onChange: (values: { launcher: LauncherName }) => void;
}

/** How several nodes start the command, each way with a line about it. */
export function Launcher({ value, error, onChange }: LauncherProps) {
  const { t } = useTranslation();
  return (
    <Select
      label={t('wizard.launcher')}
      description={t(`wizard.launchers.${value}`)}
      data={LAUNCHERS.map((name) => ({ value: name, label: t(`wizard.launcherNames.${name}`) }))}
      renderOption={({ option }) => (
        <div>
          <Text size="sm">{option.label}</Text>
          <Text size="xs" c="dimmed">
            {t(`wizard.launchers.${option.value as LauncherName}`)}
          </Text>
        </div>
      )}
      value={value}
      error={error}
      allowDeselect={false}
      onChange={(name) => name && onChange({ launcher: name })}
    />
  );
}

/** The resources of all nodes together; `resources` are each node's. */
export function Sum({ nodes, resources }: { nodes: number; resources: Resources }) {
  const { t } = useTranslation();
  const format = useFormat();
  const { cpus = 0, memory_bytes: memoryBytes = 0, gpus = 0 } = resources;
  const of = (count: number) =>
    [
      t('jobs.amount.cpus', { count: cpus * count }),
      t('jobs.amount.memory', { size: format.bytes(memoryBytes * count) }),
      ...(gpus > 0 ? [t('jobs.amount.gpus', { count: gpus * count })] : []),
    ].join(', ');
  return (
    <Text size="sm" role="status">
      {t('wizard.sum', { nodes, each: of(1), all: of(nodes) })}
    </Text>
  );
}
