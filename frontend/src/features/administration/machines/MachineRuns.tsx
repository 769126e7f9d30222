import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Machine, MachineRun } from '@/api/schema';
import { type Column, DataTable } from '@/shared/grid/DataTable';
import { type Format, useFormat } from '@/shared/ui/format';
import { StateBadge } from '@/shared/ui/StateBadge';
import { Elapsed } from '@/shared/ui/values';

/** Runs that hold slots on a machine; those of projects that one may not see are only counted. */
export function MachineRuns({ machine }: { machine: Machine }) {
  const { t } = useTranslation();
  const format = useFormat();
  const { runs, elsewhere, name } = machine;
  const held = useHeld();
  const columns = useColumns(format);
  return (
    <div>
      {runs.length > 0 && (
        <DataTable
          label={t('machines.runs', { name })}
          columns={columns}
          rows={runs}
          rowKey={({ id }) => id}
          rowName={(run) => `#${run.number} ${run.name}`}
          rowLink={({ id, project }) => ({ to: '/runs/$runId', params: { runId: id }, search: { project } })}
          empty={null}
        />
      )}
      {elsewhere.runs > 0 && (
        <Text size="sm" c="dimmed" mt="xs">
          {t('machines.elsewhere', { count: elsewhere.runs, held: held(elsewhere) })}
        </Text>
      )}
      {runs.length === 0 && elsewhere.runs === 0 && (
        <Text size="sm" c="dimmed">
          {t('machines.noRuns')}
        </Text>
      )}
    </div>
  );
}

type Slots = Pick<MachineRun, 'cpus' | 'memory_bytes' | 'gpus'>;

function useHeld(): (slots: Slots) => string {
  const { t } = useTranslation();
  const format = useFormat();
  return ({ cpus, memory_bytes, gpus }) =>
    t('machines.held', {
      cpus: format.number(cpus),
      memory: format.bytes(memory_bytes),
      gpus: format.number(gpus),
    });
}

function useColumns(format: Format): Column<MachineRun>[] {
  const { t } = useTranslation();
  const held = useHeld();
  return [
    {
      key: 'run',
      header: t('machines.run'),
      elastic: true,
      cell: (run) => `#${format.number(run.number)} ${run.name}`,
    },
    { key: 'project', header: t('machines.project'), cell: ({ project }) => project },
    { key: 'person', header: t('machines.person'), from: 'sm', cell: ({ created_by }) => created_by ?? '–' },
    { key: 'state', header: t('machines.runState'), from: 'sm', cell: ({ state }) => <StateBadge state={state} /> },
    { key: 'slots', header: t('machines.slots'), from: 'md', nowrap: true, cell: held },
    {
      key: 'for',
      header: t('machines.runningFor'),
      nowrap: true,
      align: 'right',
      cell: ({ started_at }) => <Elapsed from={started_at} />,
    },
  ];
}
