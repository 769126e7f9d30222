import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { RunningPlan } from '@/api/contract/overview';
import { AnchorLink } from '@/shared/ui/links';
import { ProgressBar } from '@/shared/ui/ProgressBar';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import classes from './overview.module.css';
import { Section } from './Section';

/** The running warm-up plans, each with its progress over all nodes. */
export function WarmPlans({ plans }: { plans: RunningPlan[] }) {
  const { t } = useTranslation();
  const all = (
    <AnchorLink to="/warm-plans" search={{ state: 'running' }}>
      {t('overview.seeAll')}
    </AnchorLink>
  );
  return (
    <Section title={t('overview.warmPlans')} all={all}>
      {plans.map((plan) => (
        <PlanLine key={plan.id} plan={plan} />
      ))}
    </Section>
  );
}

function PlanLine({ plan }: { plan: RunningPlan }) {
  const { t } = useTranslation();
  const { dataset, ref, cluster, bytes_total: total, bytes_present: present } = plan;
  const name = `${dataset}@${ref}`;
  return (
    <Link to="/warm-plans" search={{ plan: plan.id }} className={classes.row}>
      <div className={classes.line}>
        <span className={classes.name} title={name}>
          {name}
        </span>
        <span className={classes.detail}>
          {t('overview.planNodes', { done: plan.nodes_done, count: plan.nodes, cluster })}
          {' · '}
          <RelativeTime at={plan.created_at} />
        </span>
      </div>
      <ProgressBar ratio={total > 0 ? present / total : 1} label={t('overview.planProgress', { name, cluster })} />
    </Link>
  );
}
