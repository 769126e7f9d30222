import { Group } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { DataGate } from '@/api/schema';
import { AnchorLink } from '@/shared/ui/links';

/** Links to the warm-up plans that bring, or brought, the data of a run; several have numbers, the newest the last. */
export function GatePlans({ plans }: Pick<DataGate, 'plans'>) {
  const { t } = useTranslation();
  return (
    <Group gap="xs" component="span">
      {plans.map((plan, index) => (
        <AnchorLink key={plan} to="/warm-plans" search={{ plan }} fz="inherit">
          {plans.length > 1 ? t('startWhen.planNumber', { number: index + 1 }) : t('startWhen.plan')}
        </AnchorLink>
      ))}
    </Group>
  );
}
