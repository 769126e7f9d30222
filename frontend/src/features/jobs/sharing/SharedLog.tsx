import { Group, Select, Switch, Title } from '@mantine/core';
import { useDocumentVisibility } from '@mantine/hooks';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { SharedRun } from '@/api/contract/jobs';
import { ErrorState } from '@/shared/ui/ErrorState';
import { FeedBadge } from '../log/FeedBadge';
import { NOTHING } from '../log/highlight';
import { LogView } from '../log/LogView';
import { useLogOf } from '../log/useLog';
import type { sharedRunSearch } from '../search';
import { isActive } from '../states';
import { LINK_POLL_MS, readSharedLog } from './queries';
import classes from './sharing.module.css';

const plain = () => NOTHING;

/** The log of an attempt, the last one unless another is chosen, read again while the page is seen. */
export function SharedLog({ token, run }: { token: string; run: SharedRun }) {
  const { t } = useTranslation();
  const { attempts } = run;
  const chosen = (useSearch({ strict: false }) as ReturnType<typeof sharedRunSearch>).attempt;
  // The address may name one that there is not.
  const attempt = chosen && chosen >= 1 && chosen <= attempts ? chosen : attempts;
  const begun = attempts > 0;
  const { store, feed, revision } = useLogOf(
    `${token}/${attempt}`,
    (from, signal) => readSharedLog(token, attempt, from, signal),
    begun,
    LINK_POLL_MS,
  );
  const [follow, setFollow] = useState(isActive(run));
  const [marked, setMarked] = useState<number | null>(null);
  const hidden = useDocumentVisibility() === 'hidden';
  useEffect(() => {
    if (!begun) return;
    if (hidden) feed.pause();
    else feed.resume();
  }, [begun, hidden, feed]);
  const active = isActive(run);
  const silent = t(active ? 'runlog.empty' : 'sharing.page.logGone');
  const waiting = t(active ? 'runlog.notStarted' : 'runlog.silent');
  const emptyText = begun ? (feed.state === 'loading' ? t('common.loading') : silent) : waiting;
  return (
    <section aria-label={t('jobs.tab.log')}>
      <Group gap="md" mb="xs">
        <Title order={2} fz="sm">
          {t('jobs.tab.log')}
        </Title>
        {attempts > 1 && <AttemptSelect attempts={attempts} value={attempt} />}
        <Switch
          size="xs"
          data-no-print
          wrapperProps={{ 'data-no-print': true }}
          label={t('sharing.page.logEnd')}
          checked={follow}
          onChange={(event) => setFollow(event.currentTarget.checked)}
        />
        {begun && <FeedBadge feed={feed} />}
      </Group>
      {feed.state === 'failed' && <ErrorState error={feed.error} onRetry={() => feed.resume()} compact retrying />}
      <div className={classes.log}>
        <LogView
          store={store}
          revision={revision}
          filter="all"
          highlightOf={plain}
          follow={follow}
          onFollow={setFollow}
          showTimes={false}
          target={null}
          marked={marked}
          onMark={setMarked}
          emptyText={emptyText}
        />
      </div>
    </section>
  );
}

/** The last one is nobody's choice: the page goes on to the next when it begins. */
function AttemptSelect({ attempts, value }: { attempts: number; value: number }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const choose = (number: number) =>
    void navigate({
      to: '.',
      search: (old) => ({ ...old, attempt: number === attempts ? undefined : number }),
      hash: true,
      replace: true,
    });
  return (
    <Select
      size="xs"
      w={130}
      data-no-print
      wrapperProps={{ 'data-no-print': true }}
      aria-label={t('jobs.attempt')}
      allowDeselect={false}
      data={Array.from({ length: attempts }, (_, index) => ({
        value: String(index + 1),
        label: t('jobs.attemptNumber', { number: index + 1 }),
      }))}
      value={String(value)}
      onChange={(number) => number && choose(Number(number))}
    />
  );
}
