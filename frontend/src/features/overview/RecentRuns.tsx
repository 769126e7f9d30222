import { IconPlayerPlay } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { RecentRun } from '@/api/contract/overview';
import { useWords } from '@/shared/domain/runWords';
import { EmptyState } from '@/shared/ui/EmptyState';
import { AnchorLink, ButtonLink } from '@/shared/ui/links';
import { ProgressBar } from '@/shared/ui/ProgressBar';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { StateBadge } from '@/shared/ui/StateBadge';
import classes from './overview.module.css';
import { Section } from './Section';

const RANK: Record<string, number> = { failed: 0, running: 1 };

/** Failed first, then running: what needs a person comes on top. */
const byNeed = (a: RecentRun, b: RecentRun) => (RANK[a.state] ?? 2) - (RANK[b.state] ?? 2);

export function RecentRuns({ runs }: { runs: RecentRun[] }) {
  const { t } = useTranslation();
  return (
    <Section title={t('overview.recentRuns')} all={<AnchorLink to="/runs">{t('overview.seeAll')}</AnchorLink>}>
      {runs.length === 0 && (
        <EmptyState
          compact
          icon={IconPlayerPlay}
          title={t('overview.noRuns')}
          action={<ButtonLink to="/runs/new">{t('overview.startRun')}</ButtonLink>}
        />
      )}
      {runs.toSorted(byNeed).map((run) => (
        <RunLine key={run.id} run={run} />
      ))}
    </Section>
  );
}

/** The reader's runs that have not ended. */
export function RunList({ title, runs }: { title: string; runs: RecentRun[] }) {
  const { t } = useTranslation();
  return (
    <Section title={title} all={<AnchorLink to="/runs/queue">{t('overview.whyWaiting')}</AnchorLink>}>
      {runs.map((run) => (
        <RunLine key={run.id} run={run} />
      ))}
    </Section>
  );
}

function RunLine({ run }: { run: RecentRun }) {
  const { t } = useTranslation();
  const words = useWords();
  const name = run.name || t('overview.runNumber', { number: run.number });
  const who = run.created_by?.full_name || run.created_by?.username;
  return (
    <Link to="/runs/$runId" params={{ runId: run.id }} className={classes.row}>
      <div className={classes.line}>
        <span className={classes.name} title={name}>
          {name}
        </span>
        <StateBadge state={run.state} />
      </div>
      <div className={classes.line}>
        <span className={classes.detail}>
          <RelativeTime at={run.finished_at ?? run.started_at ?? run.created_at} />
          {who ? ` · ${t('overview.by', { name: who })}` : ''}
          {run.progress_text && run.state === 'running' ? ` · ${run.progress_text}` : ''}
        </span>
      </div>
      {run.state === 'failed' && run.failure_reason && <div className={classes.reason}>{words.failure(run)}</div>}
      {run.state === 'running' && run.progress !== null && (
        <ProgressBar ratio={run.progress} label={t('overview.runProgress', { name })} />
      )}
    </Link>
  );
}
