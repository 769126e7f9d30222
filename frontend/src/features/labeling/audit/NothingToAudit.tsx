import { Button, Stack, Text } from '@mantine/core';
import { IconChecks } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import type { LabelTask } from '@/api/contract/labeling';
import { EmptyState } from '@/shared/ui/EmptyState';
import { ButtonLink } from '@/shared/ui/links';
import { Page } from '@/shared/ui/Page';
import { PageHeader } from '@/shared/ui/PageHeader';
import { Holders } from '../Holders';
import { useWaiting } from '../queries';
import { wordsOfState } from '../task/progress';

interface NothingToAuditProps {
  task: LabelTask;
  page: string;
  /** Take what another window of this person holds. */
  onTakeAll: () => void;
}

/** Nothing to audit: the task hands out nothing, the rest is one's own work, or others or another window hold it. */
export function NothingToAudit({ task, page, onTakeAll }: NothingToAuditProps) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const words = wordsOfState(task.state);
  const waiting = useWaiting(task.id, 'audit', page).data;
  const open = waiting?.open ?? 0;
  useEffect(() => {
    if (open > 0) void client.invalidateQueries({ queryKey: ['audit-lease', task.id] });
  }, [client, open, task.id]);
  const own = task.my.own_audits;
  const elsewhere = waiting?.elsewhere ?? 0;
  const why = (
    <Stack gap={6} align="center" aria-live="polite">
      {own > 0 && <Text size="sm">{t('labeling.audit.ownWork', { count: own })}</Text>}
      <Holders holders={waiting?.holders ?? []} doing="audit" />
      {elsewhere > 0 && (
        <Text size="sm">
          {t('labeling.work.elsewhereHeld', { count: elsewhere })}{' '}
          <Button size="compact-xs" variant="light" onClick={onTakeAll}>
            {t('labeling.work.goOnHere')}
          </Button>
        </Text>
      )}
      {own === 0 && elsewhere === 0 && <Text size="sm">{t('labeling.audit.noneHint')}</Text>}
    </Stack>
  );
  return (
    <Page>
      <PageHeader title={t('labeling.audit.of', { name: task.name })} />
      <EmptyState
        icon={IconChecks}
        title={words === 'active' ? t('labeling.audit.none') : t(`labeling.work.nothing.${words}`)}
        action={
          <Stack align="center" gap="sm">
            {words === 'active' && why}
            <ButtonLink data-first-action to="/labeling/$taskId" params={{ taskId: task.id }} variant="default">
              {t('labeling.work.toTask')}
            </ButtonLink>
          </Stack>
        }
      />
    </Page>
  );
}
