import { Group, Switch, Text } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run } from '@/api/contract/jobs';
import { ErrorState } from '@/shared/ui/ErrorState';
import { useFormat } from '@/shared/ui/format';
import { isActive, isWaiting } from '../states';
import classes from './log.module.css';
import { RankSelect } from './RankSelect';
import { MOST_LINES, useMergedLog } from './useMergedLog';

export interface MergedLogProps {
  run: Run;
  attempt: number | undefined;
  paused: boolean;
}

/** The colours of ranks, each with a contrast of at least 4.5 to the background of a log. */
const COLOURS = ['#8ab4f8', '#f2b56b', '#7fd1a5', '#e59ac1', '#c3b1f5', '#9fd3e6', '#e6d27f', '#f19a8e'];

/** The logs of all ranks as one, line by line in the order of their times. */
export function MergedLog({ run, attempt, paused }: MergedLogProps) {
  const { t } = useTranslation();
  const format = useFormat();
  const [follow, setFollow] = useState(isActive(run));
  const { lines, left, eof, error, retry } = useMergedLog(run.id, attempt, !paused);
  const ranks = run.attempts.find(({ number }) => number === attempt)?.ranks ?? [];
  const scroller = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: at each new line
  useEffect(() => {
    const element = scroller.current;
    if (follow && element) element.scrollTop = element.scrollHeight;
  }, [follow, lines]);
  const emptyText = isWaiting(run) ? t('runlog.notStarted') : t(eof ? 'runlog.silent' : 'common.loading');

  return (
    <>
      <Group gap="xs" mb="xs">
        <RankSelect ranks={ranks} chosen="all" />
        <Switch
          size="xs"
          label={t('runlog.follow')}
          checked={follow}
          onChange={(event) => setFollow(event.currentTarget.checked)}
        />
        <Text size="xs" c="dimmed" className="tabular">
          {t('runlog.lines', { count: lines.length, shown: format.number(lines.length) })}
        </Text>
        {left && (
          <Text size="xs" c="dimmed">
            {t('runlog.mergedTail', { most: format.number(MOST_LINES) })}
          </Text>
        )}
      </Group>
      {error != null && <ErrorState error={error} onRetry={retry} compact />}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: so that it scrolls by keyboard */}
      <section className={classes.scroller} ref={scroller} tabIndex={0} aria-label={t('runlog.label')}>
        {lines.length === 0 && <p className={classes.merged}>{emptyText}</p>}
        {lines.map((line) => (
          <div key={line.key} className={classes.merged} data-fd={line.stream === 'stderr' ? 2 : 1}>
            <span className={classes.rank} style={{ color: COLOURS[line.rank % COLOURS.length] }}>
              {line.rank}
            </span>
            {line.text}
          </div>
        ))}
      </section>
    </>
  );
}
