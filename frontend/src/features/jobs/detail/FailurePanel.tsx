import { Alert, Badge, Button, Code, Collapse, Group, Skeleton, Text } from '@mantine/core';
import { IconAlertTriangle, IconBulb, IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run } from '@/api/contract/jobs';
import { useMay } from '@/shared/domain/project';
import { useWords } from '@/shared/domain/runWords';
import { CopyIcon } from '@/shared/ui/CopyId';
import { AnchorLink } from '@/shared/ui/links';
import { RemedyButtons } from '../remedies/RemedyButtons';
import classes from './detail.module.css';

function evidenceText(evidence: Run['evidence']): string {
  const left = evidence?.traceback || evidence?.tail;
  return typeof left === 'string' ? left : '';
}

/** Codes whose sentence only repeats the program's last words: these are shown at once. */
const UNEXPLAINED = new Set(['exited', 'exited_with_error', 'signalled']);

/** The failure in a plain sentence, buttons that repair it, and the program's own last words. */
export function FailurePanel({ run }: { run: Run }) {
  const { t } = useTranslation();
  const words = useWords();
  const mayRun = useMay('researcher');
  const reason = words.failure(run);
  const suggestion = words.suggestion(run);
  return (
    <Alert
      variant="light"
      color="red"
      icon={<IconAlertTriangle size={18} />}
      mb="sm"
      classNames={{ root: classes.failure, body: classes.failureBody, label: classes.failureBody }}
      title={
        <Group gap="xs" align="flex-start">
          <span className={classes.reason}>{reason || t('jobs.failedUnknown')}</span>
          {run.failure_class && <Badge color="red">{words.failureClass(run.failure_class)}</Badge>}
        </Group>
      }
    >
      <FirstRank run={run} />
      {suggestion && (
        <Group gap={6} wrap="nowrap" align="flex-start">
          <IconBulb size={16} aria-hidden style={{ flex: 'none', marginTop: 2 }} />
          <Text size="sm">{suggestion}</Text>
        </Group>
      )}
      {mayRun && <Remedies run={run} />}
      <Evidence key={run.failure?.code} run={run} />
    </Alert>
  );
}

/** The rank of a run on several nodes that failed first: the others were ended after it. */
function FirstRank({ run }: { run: Run }) {
  const { t } = useTranslation();
  const rank = run.evidence?.rank;
  if (typeof rank !== 'number') return null;
  return (
    <AnchorLink
      to="."
      search={(old: Record<string, unknown>) => ({
        ...old,
        tab: 'log' as const,
        rank: rank || undefined,
        ranks: undefined,
      })}
      size="sm"
    >
      {t('runpage.firstRank', { rank })}
    </AnchorLink>
  );
}

/** The reason is on its way: the state of a run comes a moment before it. */
export function FailureComing() {
  return <Skeleton height={96} mb="sm" radius="md" aria-busy />;
}

/** Buttons for the version that the failure names; what they make is taken into a copy of the run. */
function Remedies({ run }: { run: Run }) {
  const navigate = useNavigate();
  const { failure } = run;
  if (!failure || failure.remedies.length === 0) return null;
  const named = failure.params.dataset;
  const reference = typeof named === 'string' ? named : '';
  return (
    <RemedyButtons
      remedies={failure.remedies}
      reference={reference}
      branch={failure.branch}
      objects={failure.code === 'no_objects'}
      run={run.id}
      onVersion={(dataset) => void navigate({ to: '/runs/new', search: { clone: run.id, dataset } })}
    />
  );
}

/** The traceback: folded where the sentence above has said it already. */
function Evidence({ run }: { run: Run }) {
  const { t } = useTranslation();
  const id = useId();
  const [open, setOpen] = useState(!run.failure || UNEXPLAINED.has(run.failure.code));
  const evidence = evidenceText(run.evidence);
  if (!evidence) return null;
  const Icon = open ? IconChevronDown : IconChevronRight;
  return (
    <div style={{ marginTop: 6 }}>
      <Button
        variant="subtle"
        color="gray"
        size="compact-xs"
        leftSection={<Icon size={14} aria-hidden />}
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setOpen(!open)}
      >
        {t('jobs.evidence')}
      </Button>
      <Collapse expanded={open} id={id}>
        {open && (
          <Group gap={4} align="flex-start" wrap="nowrap">
            <Code block className={classes.trace} flex={1} tabIndex={0} aria-label={t('jobs.evidence')}>
              {evidence}
            </Code>
            <CopyIcon value={evidence} what={t('jobs.evidence')} />
          </Group>
        )}
      </Collapse>
    </div>
  );
}
