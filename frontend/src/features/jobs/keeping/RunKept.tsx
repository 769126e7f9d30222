import { Alert, Button, Group, Menu, Text } from '@mantine/core';
import { IconArchive, IconClockExclamation } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Run } from '@/api/contract/jobs';
import { useMay } from '@/shared/domain/project';
import { useFormat } from '@/shared/ui/format';
import { AnchorLink } from '@/shared/ui/links';
import { flushPending } from '@/shared/ui/pending';
import { confirmUndo, notifyError, notifySuccess } from '@/shared/ui/undo';
import { isActive } from '../states';
import { aboutKeeping, useKeepRun, useRunKeeping } from './queries';

const CHOICES = [7, 30, 90, 365] as const;

/** The retention of a run's logs and outputs: nothing is shown where no policy decides. */
export function RunKept({ run }: { run: Run }) {
  const { t } = useTranslation();
  const format = useFormat();
  const may = useMay('researcher');
  const { data } = useRunKeeping(run.id);
  if (!data || isActive(run)) return null;
  const { removed_at, due_at, until, project_days } = data;
  const policy = (
    <AnchorLink to="/runs/retention" inherit underline="always">
      {t('keeping.policy')}
    </AnchorLink>
  );
  if (removed_at)
    return (
      <Alert color="gray" icon={<IconArchive size={18} />} mb="sm" py="xs">
        {t('keeping.removed', { date: format.date(removed_at), size: format.bytes(data.removed_bytes) })} {policy}
      </Alert>
    );
  if (due_at)
    return (
      <Alert color="orange" icon={<IconClockExclamation size={18} />} mb="sm" py="xs">
        <Group gap="xs">
          <Text size="sm">
            {t('keeping.due', { date: format.date(due_at) })} {policy}
          </Text>
          {may && <KeepMenu run={run} isSaid={until !== null} />}
        </Group>
      </Alert>
    );
  if (!until && (project_days === null || run.starred)) return null;
  return (
    <Group gap="xs" mb="xs">
      <Text size="xs" c="dimmed">
        {until ? t('keeping.until', { date: format.date(until) }) : t('keeping.days', { count: project_days ?? 0 })}{' '}
        {policy}
      </Text>
      {may && <KeepMenu run={run} isSaid={until !== null} />}
    </Group>
  );
}

function KeepMenu({ run, isSaid }: { run: Run; isSaid: boolean }) {
  const { t } = useTranslation();
  const keep = useKeepRun(run.id);
  const about = aboutKeeping(run.id);
  const choose = (days: number) =>
    void flushPending(about)
      .then(() => keep(days))
      .then(() => notifySuccess(t('keeping.kept', { count: days })))
      .catch(notifyError);
  const undo = () =>
    confirmUndo({ message: t('keeping.asProjectSoon'), about, commit: () => keep(null), rollback: () => undefined });
  return (
    <Menu position="bottom-start">
      <Menu.Target>
        <Button size="compact-xs" variant="default">
          {t('keeping.keep')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{t('keeping.starHint')}</Menu.Label>
        {CHOICES.map((days) => (
          <Menu.Item key={days} onClick={() => choose(days)}>
            {t('keeping.forDays', { count: days })}
          </Menu.Item>
        ))}
        {isSaid && <Menu.Item onClick={undo}>{t('keeping.asProject')}</Menu.Item>}
      </Menu.Dropdown>
    </Menu>
  );
}
