import { Badge, Button, Text, Tooltip } from '@mantine/core';
import {
  IconArrowsDiff,
  IconArrowsRightLeft,
  IconBan,
  IconBox,
  IconCopy,
  IconRefresh,
  IconShare,
} from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run } from '@/api/contract/jobs';
import { useMay } from '@/shared/domain/project';
import { whenReachable } from '@/shared/live/connection';
import { LiveIndicator } from '@/shared/live/LiveIndicator';
import type { Live } from '@/shared/live/useLive';
import { CopyId } from '@/shared/ui/CopyId';
import { useCommands } from '@/shared/ui/commands';
import { AnchorLink, ButtonLink } from '@/shared/ui/links';
import { PageHeader } from '@/shared/ui/PageHeader';
import { ProgressBar } from '@/shared/ui/ProgressBar';
import { PrintReport } from '@/shared/ui/print/PrintReport';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { StateBadge } from '@/shared/ui/StateBadge';
import { confirmUndo, notifyError, notifySuccess } from '@/shared/ui/undo';
import { ChooseRuns } from '../compare/ChooseRuns';
import { joined } from '../compare/numbers';
import { inputLink, inputName } from '../inputName';
import { runName } from '../list/columns';
import { cancelRun, retryRun, useRefreshRun } from '../queries';
import { RunState } from '../RunState';
import { RunTime } from '../RunTime';
import { ShareDialog } from '../sharing/ShareDialog';
import { isActive, isTracked, isWaiting, mayCancel, mayMove } from '../states';
import classes from './detail.module.css';
import { RegisteredVersions } from './RegisteredVersions';
import { RegisterModel } from './RegisterModel';

const MoveDialog = lazy(whenReachable(() => import('./MoveDialog')));

function useRunActions(run: Run) {
  const { t } = useTranslation();
  const refresh = useRefreshRun();
  const [busy, setBusy] = useState(false);
  const [cancelling, setCancelling] = useState(false);
  const retry = async () => {
    setBusy(true);
    try {
      await retryRun(run.id);
      notifySuccess(t('jobs.retryAsked', { name: runName(run) }));
    } catch (error) {
      notifyError(error);
    } finally {
      setBusy(false);
      refresh();
    }
  };
  // Sent when the time to undo is over: a run that was told to stop cannot be told to go on.
  const cancel = () => {
    if (cancelling) return;
    setCancelling(true);
    confirmUndo({
      message: t('jobs.cancelAsked', { name: runName(run) }),
      commit: async () => {
        await cancelRun(run.id);
        setCancelling(false);
        refresh();
      },
      rollback: () => setCancelling(false),
    });
  };
  return { busy, cancelling, cancel, retry: () => void retry() };
}

export function RunHeader({ run, live }: { run: Run; live: Live }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const mayRun = useMay('researcher');
  const actions = useRunActions(run);
  const [registering, setRegistering] = useState(false);
  const [comparing, setComparing] = useState(false);
  const [sharing, setSharing] = useState(false);
  const [moving, setMoving] = useState(false);
  const clone = () => void navigate({ to: '/runs/new', search: { clone: run.id } });
  const canCancel = mayRun && mayCancel(run);
  // A tracked run's files stay as they are while it goes on; there is nothing of it to start again.
  const tracked = isTracked(run);
  const mayClone = mayRun && !tracked;
  const canRetry = mayClone && (run.state === 'failed' || run.state === 'cancelled');
  const canMove = mayClone && mayMove(run);
  const canRegister = mayRun && (tracked || run.state === 'succeeded') && run.has_model;
  useCommands([
    { id: 'run-compare', label: t('compare.compareWith'), icon: IconArrowsDiff, run: () => setComparing(true) },
    { id: 'run-share', label: t('sharing.share'), icon: IconShare, run: () => setSharing(true) },
    ...(canCancel ? [{ id: 'run-cancel', label: t('jobs.cancelRun'), icon: IconBan, run: actions.cancel }] : []),
    ...(canRetry ? [{ id: 'run-retry', label: t('jobs.retryRun'), icon: IconRefresh, run: actions.retry }] : []),
    ...(canMove
      ? [{ id: 'run-move', label: t('runpage.move.button'), icon: IconArrowsRightLeft, run: () => setMoving(true) }]
      : []),
    ...(mayClone ? [{ id: 'run-clone', label: t('jobs.cloneRun'), icon: IconCopy, run: clone }] : []),
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
            {run.name && (
              <Text c="dimmed" className="tabular">
                #{run.number}
              </Text>
            )}
            {actions.cancelling ? <StateBadge state="cancelling" /> : <RunState run={run} />}
            {tracked && (
              <Tooltip label={t('jobs.tracked.hint')}>
                <Badge color="indigo" variant="light">
                  MLflow
                </Badge>
              </Tooltip>
            )}
            {live.status !== 'closed' && <LiveIndicator live={live} />}
          </>
        }
        subtitle={<Facts run={run} />}
      >
        {run.model_versions.length > 0 && (
          <Text size="sm" c="dimmed">
            {t('jobs.registeredAs')} <RegisteredVersions run={run} />
          </Text>
        )}
        {canRegister && (
          <Button variant="default" leftSection={<IconBox size={14} />} onClick={() => setRegistering(true)}>
            {t(run.model_versions.length > 0 ? 'jobs.registerAgain' : 'jobs.registerModel')}
          </Button>
        )}
        <Button variant="default" leftSection={<IconArrowsDiff size={14} />} onClick={() => setComparing(true)}>
          {t('compare.compareWith')}
        </Button>
        <Button variant="default" leftSection={<IconShare size={14} />} onClick={() => setSharing(true)}>
          {t('sharing.share')}
        </Button>
        <PrintReport />
        {mayClone && (
          <Tooltip label={t('jobs.cloneHint')}>
            <ButtonLink
              data-first-action
              variant="default"
              leftSection={<IconCopy size={14} />}
              to="/runs/new"
              search={{ clone: run.id }}
            >
              {t('jobs.cloneRun')}
            </ButtonLink>
          </Tooltip>
        )}
        {canMove && (
          <Button variant="default" leftSection={<IconArrowsRightLeft size={14} />} onClick={() => setMoving(true)}>
            {t('runpage.move.button')}
          </Button>
        )}
        {canRetry && (
          <Tooltip label={t('jobs.retryHint')}>
            <Button
              variant="default"
              leftSection={<IconRefresh size={14} />}
              loading={actions.busy}
              onClick={actions.retry}
            >
              {t('jobs.retryRun')}
            </Button>
          </Tooltip>
        )}
        {canCancel && (
          <Tooltip label={t(tracked ? 'jobs.tracked.cancelHint' : 'jobs.cancelHint')}>
            <Button
              color="red"
              variant="light"
              leftSection={<IconBan size={14} />}
              disabled={actions.cancelling}
              onClick={actions.cancel}
            >
              {t('jobs.cancelRun')}
            </Button>
          </Tooltip>
        )}
      </PageHeader>
      {!tracked && isActive(run) && !isWaiting(run) && (
        <div style={{ marginBottom: 10 }}>
          <ProgressBar ratio={run.progress ?? 0} label={t('jobs.progressOf', { name: runName(run) })} />
          <Text size="xs" c="dimmed">
            {run.progress_text}
          </Text>
        </div>
      )}
      {comparing && (
        <ChooseRuns
          chosen={[run.number]}
          onClose={() => setComparing(false)}
          onChoose={(numbers) => void navigate({ to: '/runs/compare', search: { runs: joined(numbers) } })}
        />
      )}
      <ShareDialog run={run} opened={sharing} onClose={() => setSharing(false)} />
      {moving && (
        <Suspense fallback={null}>
          <MoveDialog run={run} onClose={() => setMoving(false)} />
        </Suspense>
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
      {run.experiment && (
        <AnchorLink to="/runs" search={{ experiment: run.experiment }} fz="inherit">
          {t('jobs.inExperiment', { name: run.experiment })}
        </AnchorLink>
      )}
      {run.datasets.map((input) => (
        <AnchorLink key={input.alias} {...inputLink(input)} fz="inherit">
          {inputName(input)}
        </AnchorLink>
      ))}
      {run.cluster && (
        <AnchorLink to="/runs" search={{ cluster: run.cluster }} fz="inherit">
          {t('runpage.inCluster', { cluster: run.cluster })}
        </AnchorLink>
      )}
      {run.nodes > 1 && <span>{t('runpage.onNodes', { count: run.nodes })}</span>}
      {run.node && run.nodes === 1 && <span>{t('jobs.onNode', { node: run.node })}</span>}
      {run.placement_decision && (
        <AnchorLink to="." search={(old: object) => ({ ...old, tab: 'config' })} fz="inherit">
          {t('runpage.whyHere.title')}
        </AnchorLink>
      )}
      {run.started_at && (
        <span>
          <RunTime run={run} />
        </span>
      )}
      {who && <span>{t('jobs.by', { name: who })}</span>}
      <RelativeTime at={run.created_at} />
      <CopyId value={run.id} />
    </span>
  );
}
