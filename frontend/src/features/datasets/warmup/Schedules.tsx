import { Button, Group, Paper, Stack, Text } from '@mantine/core';
import { IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { WarmSchedule } from '@/api/contract/datasets';
import { useMay } from '@/shared/domain/project';
import { EndButton } from '@/shared/ui/EndButton';
import { ErrorState } from '@/shared/ui/ErrorState';
import { useFormat } from '@/shared/ui/format';
import { AnchorLink } from '@/shared/ui/links';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { StateBadge } from '@/shared/ui/StateBadge';
import { confirmUndo, notifyError } from '@/shared/ui/undo';
import { PlanProblem } from './PlanProblem';
import { useScheduleActions, useSchedules } from './queries';

/** Plans that start again and again, with their next time; of one dataset if it is named. Mostly nothing. */
export function Schedules({ dataset }: { dataset?: string }) {
  const { t } = useTranslation();
  const { rows, error, refetch } = useSchedules();
  const [leaving, setLeaving] = useState<ReadonlySet<string>>(new Set());
  const shown = rows?.filter((row) => !leaving.has(row.id) && (dataset === undefined || row.dataset === dataset));
  if (error && !rows) return <ErrorState error={error} compact onRetry={refetch} />;
  if (!shown || shown.length === 0) return null;
  return (
    <Stack component="section" gap="sm" mb="md" aria-label={t('warmup.schedules')}>
      <Text fw={600} size="sm" component="h2" m={0}>
        {t('warmup.schedules')}
      </Text>
      {shown.map((row) => (
        <ScheduleRow key={row.id} row={row} setLeaving={setLeaving} />
      ))}
    </Stack>
  );
}

interface ScheduleRowProps {
  row: WarmSchedule;
  setLeaving: (change: (before: ReadonlySet<string>) => ReadonlySet<string>) => void;
}

function ScheduleRow({ row, setLeaving }: ScheduleRowProps) {
  const { t } = useTranslation();
  const format = useFormat();
  const mayChange = useMay('researcher');
  const { pause, resume, remove } = useScheduleActions();
  const name = `${row.dataset}@${row.ref}`;
  const back = () => setLeaving((before) => new Set([...before].filter((id) => id !== row.id)));
  const leave = () => {
    setLeaving((before) => new Set([...before, row.id]));
    confirmUndo({
      message: t('warmup.deleting', { name }),
      commit: () => remove(row.id).finally(back),
      rollback: back,
    });
  };
  return (
    <Paper withBorder p="sm" role="group" aria-label={t('warmup.scheduleOf', { name, cluster: row.cluster })}>
      <Group justify="space-between" align="flex-start" gap="xs">
        <div style={{ minWidth: 0 }}>
          <Group gap="xs">
            <AnchorLink
              to="/datasets/$name/warm-up"
              params={{ name: row.dataset }}
              search={{ ref: row.ref }}
              size="sm"
              fw={600}
            >
              {name}
            </AnchorLink>
            <Text size="sm">{t('warmup.inCluster', { cluster: row.cluster })}</Text>
            <Text size="sm" ff="monospace">
              {row.cron} {row.timezone}
            </Text>
          </Group>
          <Text size="xs" c="dimmed" component="div">
            {row.next_at ? (
              <>
                {t('warmup.nextTime')} <RelativeTime at={row.next_at} />
              </>
            ) : (
              t('warmup.pausedNow')
            )}
            {row.keep_s !== null && ` · ${t('warmup.staysFor', { time: format.duration(row.keep_s) })}`}
            {row.last_at && (
              <>
                {' · '}
                {t('warmup.lastTime')} <RelativeTime at={row.last_at} />
              </>
            )}
          </Text>
        </div>
        <Group gap="xs">
          {row.last_plan && row.last_plan_state && (
            <AnchorLink to="/warm-plans" search={{ plan: row.last_plan }} aria-label={t('warmup.lastPlanOf', { name })}>
              <StateBadge state={row.last_plan_state} size="sm" />
            </AnchorLink>
          )}
          {mayChange && (
            <>
              <Button
                size="compact-xs"
                variant="default"
                leftSection={row.paused ? <IconPlayerPlay size={12} /> : <IconPlayerPause size={12} />}
                aria-label={t(row.paused ? 'warmup.resumeOf' : 'warmup.pauseOf', { name })}
                onClick={() => void (row.paused ? resume(row.id) : pause(row.id)).catch(notifyError)}
              >
                {t(row.paused ? 'warmup.resume' : 'warmup.pause')}
              </Button>
              <EndButton label={t('common.delete')} name={t('warmup.deleteOf', { name })} onEnd={leave} />
            </>
          )}
        </Group>
      </Group>
      <PlanProblem of={row} isOver />
    </Paper>
  );
}
