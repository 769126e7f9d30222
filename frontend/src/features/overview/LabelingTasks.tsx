import { IconPolygon } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { RecentTask } from '@/api/contract/overview';
import { useMay } from '@/shared/domain/project';
import { EmptyState } from '@/shared/ui/EmptyState';
import { AnchorLink, ButtonLink } from '@/shared/ui/links';
import { ProgressBar } from '@/shared/ui/ProgressBar';
import { StateBadge } from '@/shared/ui/StateBadge';
import classes from './overview.module.css';
import { Section } from './Section';

export function LabelingTasks({ tasks }: { tasks: RecentTask[] }) {
  const { t } = useTranslation();
  const mayCreate = useMay('researcher');
  return (
    <Section title={t('overview.labelingTasks')} all={<AnchorLink to="/labeling">{t('overview.seeAll')}</AnchorLink>}>
      {tasks.length === 0 && (
        <EmptyState
          compact
          icon={IconPolygon}
          title={t('overview.noTasks')}
          action={
            mayCreate && (
              <ButtonLink to="/labeling" variant="default">
                {t('overview.createTask')}
              </ButtonLink>
            )
          }
        />
      )}
      {tasks.map((task) => (
        <TaskLine key={task.id} task={task} />
      ))}
    </Section>
  );
}

function TaskLine({ task }: { task: RecentTask }) {
  const { t } = useTranslation();
  const { total, accepted, left_out } = task.progress;
  const open = total - accepted - left_out;
  return (
    <Link to="/labeling/$taskId" params={{ taskId: task.id }} className={classes.row}>
      <div className={classes.line}>
        <span className={classes.name} title={task.name}>
          {task.name}
        </span>
        <StateBadge state={task.state} />
      </div>
      <div className={classes.detail}>
        {open > 0 && t('overview.itemsOpen', { count: open })}
        {open === 0 && (left_out > 0 ? t('overview.itemsLeftOut', { count: left_out }) : t('overview.allDone'))}
      </div>
      <ProgressBar ratio={total > 0 ? accepted / total : 0} label={t('overview.taskProgress', { name: task.name })} />
    </Link>
  );
}
