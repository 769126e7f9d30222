import { Alert, Badge, Button, Group, Kbd, Select, Skeleton, Stack, Text, TextInput, Title } from '@mantine/core';
import { IconArrowRight } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { lazy, type MouseEvent, Suspense, useEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { AuditSlot, LabelTask } from '@/api/contract/labeling';
import { asApiError } from '@/api/errors';
import { useMe } from '@/shared/domain/me';
import { useCurrentProject, useMay, useProjectOf } from '@/shared/domain/project';
import { Thumb } from '@/shared/grid/Thumb';
import { whenReachable } from '@/shared/live/connection';
import { FailedPage } from '@/shared/ui/FailedPage';
import { Forbidden } from '@/shared/ui/Forbidden';
import { AnchorLink } from '@/shared/ui/links';
import { Page } from '@/shared/ui/Page';
import { PageHeader } from '@/shared/ui/PageHeader';
import { useShortcuts } from '@/shared/ui/shortcuts';
import { notifyError, notifySuccess, notifyWarning } from '@/shared/ui/undo';
import { LabelChip } from '../LabelChip';
import { labelById } from '../labels';
import { heartbeat, leaseAudit, sendAudit, useTask } from '../queries';
import { TaskNotice } from '../TaskNotice';
import { ToTasks } from '../ToTasks';
import classes from '../tiles.module.css';
import { Loading } from '../workspace/Loading';
import { HEARTBEAT_MS, type Held, Leases } from '../workspace/leases';
import type { PageId } from '../workspace/pageId';
import { type AuditState, auditTargets, decisionsOf, ERROR_CODES, type ErrorCode, groupsOf } from './audit';
import { NothingToAudit } from './NothingToAudit';
import { useAuditPage } from './useAuditPage';
import { useAuditBatch } from './useMarks';

const AUDIT_BATCH = 50;
const POLL_MS = 5000;

export function AuditPage() {
  const { t } = useTranslation();
  const { taskId = '' } = useParams({ strict: false });
  const project = useCurrentProject();
  const mayAudit = useMay('researcher');
  const me = useMe()?.id;
  const task = useTask(taskId);
  useProjectOf(task.data);
  const [round, setRound] = useState(0);
  const page = useAuditPage(taskId);
  const takesAll = useRef(false);
  const batch = useQuery({
    queryKey: ['audit-lease', taskId, round],
    queryFn: () => {
      const everything = takesAll.current;
      // Once: a later poll leaves the work of other windows there.
      takesAll.current = false;
      return leaseAudit(taskId, AUDIT_BATCH, page as PageId, everything);
    },
    enabled: mayAudit && page !== null,
    staleTime: Number.POSITIVE_INFINITY,
    // Whoever comes back asks anew: what was decided here is not theirs any more.
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    // A batch stays as it is; an empty page waits for the next submission.
    refetchInterval: ({ state }) => (state.data?.length === 0 ? POLL_MS : false),
  });
  if (project && !mayAudit)
    return (
      <Page>
        <PageHeader title={t('labeling.audit.title')} />
        <Forbidden hint={t('labeling.audit.forbidden')} />
      </Page>
    );
  const takeAll = () => {
    takesAll.current = true;
    void batch.refetch();
  };
  if (task.data && batch.error && asApiError(batch.error).code === 'auditor_is_labeler')
    return <NothingToAudit task={task.data} page={page?.id ?? ''} onTakeAll={takeAll} />;
  const error = task.error ?? batch.error;
  if (error && (!task.data || !batch.data))
    return (
      <FailedPage
        title={task.data?.name ?? t('labeling.task')}
        above={<ToTasks />}
        error={error}
        onRetry={() => void Promise.all([task.refetch(), batch.refetch()])}
      />
    );
  if (!task.data || !batch.data || me === undefined || page === null)
    return (
      <Page>
        <Skeleton height={28} width={280} mb="md" />
        <Skeleton height={420} aria-busy />
      </Page>
    );
  if (batch.data.length === 0) return <NothingToAudit task={task.data} page={page.id} onTakeAll={takeAll} />;
  const isDrawn = task.data.modality === 'image-objects';
  const Batch = isDrawn ? ObjectBatch : AuditBatch;
  return (
    <Batch
      key={round}
      page={page.id}
      person={me}
      task={task.data}
      slots={batch.data}
      onDone={() => setRound(round + 1)}
    />
  );
}

const NONE_DECIDED: ReadonlySet<string> = new Set();

/** Keeps the batch ours for as long as it is looked at; `decided` are ids of slots that need no lease any more. */
function useHeartbeat(
  page: string,
  slots: readonly AuditSlot[],
  decided: ReadonlySet<string>,
  onLost: (count: number) => void,
) {
  const told = useRef(onLost);
  told.current = onLost;
  const done = useRef(decided);
  done.current = decided;
  const held = useMemo(() => slots.map(({ slot_id, lease_no }) => ({ id: slot_id, lease_no })), [slots]);
  useEffect(() => {
    const leases = new Leases<Held>({
      heartbeat: (slot) => heartbeat(slot, page),
      isOurs: ({ id }) => !done.current.has(id),
      onLost: (gone) => told.current(gone.length),
    });
    const keep = () => void leases.beat(held);
    const beat = setInterval(keep, HEARTBEAT_MS);
    // The page may have been left, which shortens its leases, and come back.
    window.addEventListener('pageshow', keep);
    return () => {
      clearInterval(beat);
      window.removeEventListener('pageshow', keep);
    };
  }, [held, page]);
}

interface AuditBatchProps {
  page: string;
  person: string;
  task: LabelTask;
  slots: AuditSlot[];
  onDone: () => void;
}

/** Drawing is large, and no auditor of a grid needs it. */
const ObjectAudit = lazy(whenReachable(() => import('./ObjectAudit')));

/** Pictures with objects are looked at one after another. */
function ObjectBatch({ page, person, task, slots, onDone }: AuditBatchProps) {
  const [lost, setLost] = useState(0);
  const [decided, setDecided] = useState(NONE_DECIDED);
  useHeartbeat(page, slots, decided, (count) => setLost((before) => before + count));
  return (
    <Suspense fallback={<Loading />}>
      <ObjectAudit
        person={person}
        task={task}
        slots={slots}
        lost={lost}
        onDecided={(id) => setDecided((before) => new Set(before).add(id))}
        onDone={onDone}
      />
    </Suspense>
  );
}

function AuditBatch({ page, person, task, slots, onDone }: AuditBatchProps) {
  const { t } = useTranslation();
  const { state, dispatch, forget } = useAuditBatch(person, task.id, slots);
  const [reason, setReason] = useState<ErrorCode>('wrong_label');
  const [comment, setComment] = useState('');
  const [sending, setSending] = useState(false);
  const [lost, setLost] = useState(0);
  useHeartbeat(page, slots, NONE_DECIDED, (count) => setLost((before) => before + count));
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => list.current?.focus({ preventScroll: true }), []);

  const toggle = (indices: readonly number[]) =>
    dispatch({ type: 'toggle', indices, reason: { code: reason, comment } });
  // Two presses may come before anything is drawn.
  const isSending = useRef(false);
  const submit = async () => {
    if (isSending.current) return;
    isSending.current = true;
    setSending(true);
    try {
      const results = await sendAudit(decisionsOf(state));
      const stale = results.filter((result) => !result.ok).length;
      notifySuccess(t('labeling.audit.sent', { count: results.length - stale }));
      if (stale > 0) notifyWarning(t('labeling.audit.stale', { count: stale }));
      forget();
      onDone();
    } catch (error) {
      notifyError(error);
    } finally {
      isSending.current = false;
      setSending(false);
    }
  };
  /** Enter on a button or a link means that button or link, not the whole batch. */
  const onEnter = () => {
    const focused = document.activeElement;
    const isControl = focused instanceof HTMLElement && focused.matches('a,button:not([data-tile])');
    if (isControl) focused.click();
    else void submit();
  };
  const move = (step: number) => () => dispatch({ type: 'move', step });
  useShortcuts([
    { keys: 'ArrowRight', label: t('labeling.keys.move'), run: move(1) },
    { keys: 'ArrowLeft', label: t('labeling.keys.move'), run: move(-1) },
    { keys: 'X', label: t('labeling.audit.return'), run: () => toggle(auditTargets(state)) },
    { keys: 'A', label: t('labeling.audit.acceptAll'), run: () => dispatch({ type: 'acceptAll' }) },
    { keys: 'Enter', label: t('labeling.audit.submit'), run: onEnter },
  ]);
  const onTile = (index: number, event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey) dispatch({ type: 'select', index, add: true });
    else {
      dispatch({ type: 'select', index, add: false });
      toggle([index]);
    }
  };
  const current = state.items[state.cursor];
  return (
    <Page fill>
      <PageHeader
        title={t('labeling.audit.of', { name: task.name })}
        above={
          <AnchorLink to="/labeling/$taskId" params={{ taskId: task.id }} size="xs">
            {t('labeling.work.toTask')}
          </AnchorLink>
        }
        badges={<Badge color="grape">{t('labeling.work.images', { count: state.items.length })}</Badge>}
        subtitle={t('labeling.audit.hint')}
      >
        <Button variant="default" disabled={state.returns.size === 0} onClick={() => dispatch({ type: 'acceptAll' })}>
          {t('labeling.audit.acceptAll')}
        </Button>
        <Button rightSection={<IconArrowRight size={14} />} loading={sending} onClick={() => void submit()}>
          {t('labeling.audit.submitCounts', {
            accepted: state.items.length - state.returns.size,
            returned: state.returns.size,
          })}
        </Button>
      </PageHeader>
      <TaskNotice task={task} />
      {lost > 0 && (
        <Alert color="orange" variant="light" mb="sm" role="status">
          {t('labeling.audit.lost', { count: lost })}
        </Alert>
      )}
      <div className={classes.layout}>
        <div className={classes.main} ref={list} tabIndex={-1}>
          <AuditGroups task={task} state={state} onTile={onTile} />
        </div>
        <aside className={classes.side} aria-label={t('labeling.audit.reason')}>
          <Stack gap="sm">
            <Select
              size="xs"
              label={t('labeling.audit.reason')}
              allowDeselect={false}
              data={ERROR_CODES.map((code) => ({ value: code, label: t(`labeling.audit.code.${code}`) }))}
              value={reason}
              onChange={(value) => {
                const code = (value ?? 'wrong_label') as ErrorCode;
                setReason(code);
                dispatch({ type: 'explain', indices: auditTargets(state), reason: { code } });
              }}
            />
            <TextInput
              size="xs"
              label={t('labeling.audit.comment')}
              description={t('labeling.audit.commentHint')}
              value={comment}
              onChange={(event) => {
                setComment(event.currentTarget.value);
                dispatch({
                  type: 'explain',
                  indices: auditTargets(state),
                  reason: { comment: event.currentTarget.value },
                });
              }}
            />
            <Group gap={6}>
              <Kbd size="xs">X</Kbd>
              <Text size="xs">{t('labeling.audit.return')}</Text>
              <Kbd size="xs">Enter</Kbd>
              <Text size="xs">{t('labeling.audit.submit')}</Text>
            </Group>
            {current && (
              <div>
                <img className={classes.preview} src={current.media_url} alt={t('labeling.work.preview')} />
                <Text size="xs" c="dimmed" mt={4} style={{ overflowWrap: 'anywhere' }}>
                  {t('labeling.audit.byLabeler', { path: current.path, name: current.labeler })}
                </Text>
              </div>
            )}
          </Stack>
        </aside>
      </div>
    </Page>
  );
}

interface AuditGroupsProps {
  task: LabelTask;
  state: AuditState;
  onTile: (index: number, event: MouseEvent) => void;
}

function AuditGroups({ task, state, onTile }: AuditGroupsProps) {
  const { t } = useTranslation();
  const labels = labelById(task.labels);
  return groupsOf(state).map(([labelId, indices]) => {
    const label = labelId === null ? undefined : labels.get(labelId);
    return (
      <section key={labelId} aria-label={label?.name}>
        <Group gap="xs" mb={6} mt={4}>
          <Title order={2} fz="sm">
            {label ? <LabelChip label={label} /> : labelId}
          </Title>
          <Text size="xs" c="dimmed">
            {t('labeling.work.images', { count: indices.length })}
          </Text>
        </Group>
        <div className={classes.grid} style={{ gridTemplateColumns: 'repeat(auto-fill, minmax(92px, 1fr))' }}>
          {indices.map((index) => {
            const item = state.items[index] as AuditSlot;
            const reason = state.returns.get(item.slot_id);
            const name = item.path.slice(item.path.lastIndexOf('/') + 1);
            return (
              <button
                key={item.slot_id}
                type="button"
                data-tile
                className={classes.tile}
                style={{ border: 0, padding: 0 }}
                data-returned={reason ? true : undefined}
                data-cursor={index === state.cursor || undefined}
                aria-pressed={reason !== undefined}
                aria-label={t('labeling.audit.tile', { name, label: label?.name ?? '' })}
                onClick={(event) => onTile(index, event)}
              >
                <Thumb src={item.thumb_url ?? item.media_url} />
                {reason && (
                  <span className={classes.comment}>{reason.comment || t(`labeling.audit.code.${reason.code}`)}</span>
                )}
              </button>
            );
          })}
        </div>
      </section>
    );
  });
}
