import { Button, Text } from '@mantine/core';
import { IconBan, IconBox, IconCopy, IconRefresh } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run } from '@/api/contract/jobs';
import { CopyId } from '@/shared/CopyId';
import { useCommands } from '@/shared/commands';
import { AnchorLink, ButtonLink } from '@/shared/links';
import { LiveIndicator } from '@/shared/live/LiveIndicator';
import type { Live } from '@/shared/live/useLive';
import { PageHeader } from '@/shared/PageHeader';
import { ProgressBar } from '@/shared/ProgressBar';
import { useMay } from '@/shared/project';
import { RelativeTime } from '@/shared/RelativeTime';
import { StateBadge } from '@/shared/StateBadge';
import { notifyError, notifySuccess } from '@/shared/undo';
import { Duration, Elapsed } from '@/shared/values';
import { runName } from '../list/columns';
import { cancelRun, retryRun, useRefreshRun } from '../queries';
import { isActive, isWaiting, mayCancel } from '../states';
import classes from './detail.module.css';
import { RegisterModel } from './RegisterModel';

function useRunActions(run: Run) {
  const { t } = useTranslation();
  const refresh = useRefreshRun();
  const [busy, setBusy] = useState(false);
  const act = async (action: (id: string) => Promise<unknown>, message: string) => {
    setBusy(true);
    try {
      await action(run.id);
      notifySuccess(message);
    } catch (error) {
      notifyError(error);
    } finally {
      setBusy(false);
      refresh();
    }
  };
  return {
    busy,
    cancel: () => void act(cancelRun, t('jobs.cancelAsked', { name: runName(run) })),
    retry: () => void act(retryRun, t('jobs.retryAsked', { name: runName(run) })),
  };
}

export function RunHeader({ run, live }: { run: Run; live: Live }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const mayRun = useMay('researcher');
  const actions = useRunActions(run);
  const [registering, setRegistering] = useState(false);
  const clone = () => void navigate({ to: '/runs/new', search: { clone: run.id } });
  const canCancel = mayRun && mayCancel(run);
  const canRetry = mayRun && (run.state === 'failed' || run.state === 'cancelled');
  const canRegister = mayRun && run.outputs_count > 0;
  useCommands([
    ...(canCancel ? [{ id: 'run-cancel', label: t('jobs.cancelRun'), icon: IconBan, run: actions.cancel }] : []),
    ...(canRetry ? [{ id: 'run-retry', label: t('jobs.retryRun'), icon: IconRefresh, run: actions.retry }] : []),
    ...(mayRun ? [{ id: 'run-clone', label: t('jobs.cloneRun'), icon: IconCopy, run: clone }] : []),
  ]);
  return (
    <>
      <PageHeader
        title={runName(run)}
        above={
          <AnchorLink to="/runs" size="xs">
            {t('jobs.title')}
          </AnchorLink>
        }
        badges={
          <>
            <StateBadge state={run.state} />
            {live.status !== 'closed' && <LiveIndicator live={live} />}
          </>
        }
        subtitle={<Facts run={run} />}
      >
        {canRegister && (
          <Button variant="default" leftSection={<IconBox size={14} />} onClick={() => setRegistering(true)}>
            {t('jobs.registerModel')}
          </Button>
        )}
        {mayRun && (
          <ButtonLink variant="default" leftSection={<IconCopy size={14} />} to="/runs/new" search={{ clone: run.id }}>
            {t('jobs.cloneRun')}
          </ButtonLink>
        )}
        {canRetry && (
          <Button
            variant="default"
            leftSection={<IconRefresh size={14} />}
            loading={actions.busy}
            onClick={actions.retry}
          >
            {t('jobs.retryRun')}
          </Button>
        )}
        {canCancel && (
          <Button
            color="red"
            variant="light"
            leftSection={<IconBan size={14} />}
            loading={actions.busy}
            onClick={actions.cancel}
          >
            {t('jobs.cancelRun')}
          </Button>
        )}
      </PageHeader>
      {isActive(run) && !isWaiting(run) && (
        <div style={{ marginBottom: 10 }}>
          <ProgressBar ratio={run.progress ?? 0} label={t('jobs.progressOf', { name: runName(run) })} />
          <Text size="xs" c="dimmed">
            {run.progress_text}
          </Text>
        </div>
      )}
      {registering && <RegisterModel run={run} onClose={() => setRegistering(false)} />}
    </>
  );
}

function Facts({ run }: { run: Run }) {
  const { t } = useTranslation();
  const who = run.created_by?.full_name || run.created_by?.username;
  return (
    <span className={classes.facts}>
      {run.workflow && <span>{run.workflow}</span>}
      {run.datasets.map(({ alias, dataset, ref }) => (
        <AnchorLink key={alias} to="/datasets/$name" params={{ name: dataset }} search={{ ref }} fz="inherit">
          {`${dataset}@${ref}`}
        </AnchorLink>
      ))}
      {run.node && <span>{t('jobs.onNode', { node: run.node })}</span>}
      <span>
        {run.finished_at ? <Duration seconds={run.duration_s} /> : run.started_at && <Elapsed from={run.started_at} />}
      </span>
      {who && <span>{t('jobs.by', { name: who })}</span>}
      <RelativeTime at={run.created_at} />
      {run.model_versions.map(({ model, number }) => (
        <AnchorLink
          key={`${model}/${number}`}
          to="/models/$name/versions/$n"
          params={{ name: model, n: String(number) }}
          fz="inherit"
        >
          {t('jobs.modelVersion', { model, number })}
        </AnchorLink>
      ))}
      <CopyId value={run.id} />
    </span>
  );
}
