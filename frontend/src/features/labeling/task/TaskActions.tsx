import { Button, Group, Modal, Text } from '@mantine/core';
import { IconChecks, IconPlayerPause, IconPlayerPlay, IconTags, IconUpload } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { LabelTask } from '@/api/contract/labeling';
import { useMay } from '@/shared/domain/project';
import { ButtonLink } from '@/shared/ui/links';
import { pauseTask, publishTask, startTask } from '../queries';
import { ExportTask } from './ExportTask';
import { remaining } from './progress';
import { useTaskAction } from './useTaskAction';

/** The actions that the reader may take on the task: the server offers them by the rule that its actions check. */
export function TaskActions({ task }: { task: LabelTask }) {
  const { t } = useTranslation();
  const { act, busy } = useTaskAction();
  const [confirming, setConfirming] = useState(false);
  const offers = new Set(task.offers);
  const publish = (partial: boolean) => {
    setConfirming(false);
    void act(() => publishTask(task.id, partial), t('labeling.publishAsked'));
  };
  return (
    <>
      <ExportTask task={task} />
      {offers.has('publish') && (
        <Button
          variant="default"
          leftSection={<IconUpload size={14} />}
          loading={busy}
          onClick={() => (remaining(task.progress) > 0 ? setConfirming(true) : publish(false))}
        >
          {t('labeling.publish')}
        </Button>
      )}
      {offers.has('pause') && (
        <Button
          variant="default"
          leftSection={<IconPlayerPause size={14} />}
          loading={busy}
          onClick={() => void act(() => pauseTask(task.id), t('labeling.pausedDone'))}
        >
          {t('labeling.pause')}
        </Button>
      )}
      <Audit task={task} />
      {offers.has('start') && (
        <Button
          data-focus-as="task-next"
          leftSection={<IconPlayerPlay size={14} />}
          loading={busy}
          onClick={() => void act(() => startTask(task.id), t('labeling.startedDone'))}
        >
          {t('labeling.start')}
        </Button>
      )}
      {offers.has('label') && (
        <ButtonLink
          data-focus-as="task-next"
          leftSection={<IconTags size={15} />}
          to="/labeling/$taskId/work"
          params={{ taskId: task.id }}
        >
          {t('labeling.label')}
        </ButtonLink>
      )}
      <Modal
        opened={confirming}
        onClose={() => setConfirming(false)}
        title={t('labeling.publishPartial')}
        closeButtonProps={{ 'aria-label': t('common.close') }}
      >
        <Text size="sm">
          {t('labeling.publishPartialText', { count: remaining(task.progress), accepted: task.progress.accepted })}
        </Text>
        <Group justify="flex-end" mt="md">
          <Button variant="default" onClick={() => setConfirming(false)}>
            {t('common.cancel')}
          </Button>
          <Button onClick={() => publish(true)}>{t('labeling.publishAnyway')}</Button>
        </Group>
      </Modal>
    </>
  );
}

/** The audit, counted without one's own work; where only that waits, the reason instead of a button. */
function Audit({ task }: { task: LabelTask }) {
  const { t } = useTranslation();
  const mayAudit = useMay('researcher');
  const { to_audit, own_audits } = task.my;
  if (task.offers.includes('audit'))
    return (
      <ButtonLink
        variant="default"
        leftSection={<IconChecks size={15} />}
        to="/labeling/$taskId/audit"
        params={{ taskId: task.id }}
      >
        {t('labeling.auditCount', { count: to_audit })}
      </ButtonLink>
    );
  if (!mayAudit || task.state !== 'active' || own_audits === 0) return null;
  return (
    <Text size="xs" c="dimmed" maw={240} data-own-audits>
      {t('labeling.audit.ownWork', { count: own_audits })}
    </Text>
  );
}
