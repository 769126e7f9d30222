import { Button, NativeSelect } from '@mantine/core';
import { IconFlame } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useArrived } from '@/shared/live/useArrived';
import { EmptyState } from '@/shared/ui/EmptyState';
import { AnchorLink, ButtonLink } from '@/shared/ui/links';
import { Page } from '@/shared/ui/Page';
import { PageHeader } from '@/shared/ui/PageHeader';
import { PlanList } from './PlanList';
import { type PlanState, useSchedules, useWarmPlan, useWarmPlans } from './queries';
import { Schedules } from './Schedules';
import { PLAN_STATES } from './search';

const route = getRouteApi('/warm-plans');

/** All warm-up plans of the project. */
export function PlansPage() {
  const { t } = useTranslation();
  const { state, plan } = route.useSearch();
  const navigate = route.useNavigate();
  const plans = useWarmPlans(state);
  // A link may name a plan that is on a later page of the list.
  const isListed = !plan || plans.rows?.some(({ id }) => id === plan);
  const named = useWarmPlan(plans.rows && !isListed && !state ? plan : undefined);
  const rows = named.data && !isListed ? [named.data, ...(plans.rows ?? [])] : plans.rows;
  const hasArrived = useArrived(![plans, useSchedules()].some(({ isPending }) => isPending) && !named.isLoading);
  const setState = (next: PlanState | undefined) => void navigate({ search: { state: next }, replace: true });
  const open = (id: string | undefined) => void navigate({ search: (old) => ({ ...old, plan: id }), replace: true });
  const options = PLAN_STATES.map((value) => ({ value, label: t(`warmup.states.${value}`) }));
  return (
    <Page>
      <PageHeader
        title={t('warmup.plans')}
        subtitle={t('warmup.plansSubtitle')}
        above={
          <AnchorLink to="/datasets" size="sm">
            {t('datasets.title')}
          </AnchorLink>
        }
      >
        <NativeSelect
          aria-label={t('warmup.filter')}
          data={[{ value: '', label: t('warmup.all') }, ...options]}
          value={state ?? ''}
          onChange={(event) => setState(PLAN_STATES.find((value) => value === event.currentTarget.value))}
        />
      </PageHeader>
      {hasArrived && <Schedules />}
      <PlanList
        {...plans}
        rows={hasArrived ? rows : undefined}
        withVersion
        open={plan}
        onOpen={open}
        empty={state ? <NoMatch onClear={() => setState(undefined)} /> : <NoPlans />}
      />
    </Page>
  );
}

function NoMatch({ onClear }: { onClear: () => void }) {
  const { t } = useTranslation();
  const action = (
    <Button variant="default" onClick={onClear}>
      {t('common.clear')}
    </Button>
  );
  return <EmptyState icon={IconFlame} title={t('warmup.noMatch')} action={action} />;
}

function NoPlans() {
  const { t } = useTranslation();
  const action = (
    <>
      <p>{t('warmup.noneHint')}</p>
      <ButtonLink to="/datasets" variant="default">
        {t('warmup.toDatasets')}
      </ButtonLink>
    </>
  );
  return <EmptyState icon={IconFlame} title={t('warmup.none')} action={action} />;
}
