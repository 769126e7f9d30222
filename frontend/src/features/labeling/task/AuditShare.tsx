import { Button, Group, NumberInput, Text } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { LabelTask } from '@/api/contract/labeling';
import { useFormat } from '@/shared/ui/format';
import { changeAuditShare } from '../queries';
import { useTaskAction } from './useTaskAction';

/** The audited share; a researcher changes it for what is submitted from then on. */
export function AuditShare({ task }: { task: LabelTask }) {
  const { t } = useTranslation();
  const format = useFormat();
  const { act, busy } = useTaskAction();
  const [percent, setPercent] = useState<number | string | null>(null);
  if (percent === null)
    return (
      <Group gap="xs">
        {format.percent(task.audit_percent / 100, 1)}
        {task.offers.includes('change') && (
          <Button size="compact-xs" variant="subtle" onClick={() => setPercent(task.audit_percent)}>
            {t('labeling.share.change')}
          </Button>
        )}
      </Group>
    );
  const save = (event: FormEvent) => {
    event.preventDefault();
    if (typeof percent !== 'number') return;
    void act(() => changeAuditShare(task.id, percent), t('labeling.share.changed')).then(() => setPercent(null));
  };
  return (
    <form onSubmit={save}>
      <Group gap="xs">
        <NumberInput
          size="xs"
          w={90}
          min={0}
          max={100}
          suffix=" %"
          autoFocus
          aria-label={t('labeling.create.auditPercent')}
          value={percent}
          onChange={setPercent}
        />
        <Button size="compact-xs" type="submit" loading={busy} disabled={typeof percent !== 'number'}>
          {t('common.save')}
        </Button>
        <Button size="compact-xs" variant="default" onClick={() => setPercent(null)}>
          {t('common.cancel')}
        </Button>
      </Group>
      <Text size="xs" c="dimmed">
        {t('labeling.share.hint')}
      </Text>
    </form>
  );
}
