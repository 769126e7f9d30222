import { SimpleGrid } from '@mantine/core';
import { IconAlertTriangle, IconClock, IconPlayerPlay, IconPolygon } from '@tabler/icons-react';
import { Link, type LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Overview } from '@/api/contract/overview';
import { MetricCard } from '@/shared/ui/MetricCard';
import { Count } from '@/shared/ui/values';
import classes from './overview.module.css';

export function Counts({ overview }: { overview: Overview }) {
  const { t } = useTranslation();
  const { runs, labeling } = overview;
  const failedColor = runs.failed_24h > 0 ? 'var(--mantine-color-red-light-color)' : 'var(--mantine-color-dimmed)';
  const grey = 'var(--mantine-color-dimmed)';
  return (
    <SimpleGrid cols={{ base: 2, lg: 4 }} spacing="md">
      <CountLink link={{ to: '/runs', search: { state: 'failed' } }}>
        <MetricCard
          label={t('overview.failed24h')}
          value={<Count value={runs.failed_24h} />}
          icon={<IconAlertTriangle size={18} color={failedColor} aria-hidden />}
        />
      </CountLink>
      <CountLink link={{ to: '/runs', search: { state: 'running' } }}>
        <MetricCard
          label={t('overview.running')}
          value={<Count value={runs.running} />}
          icon={<IconPlayerPlay size={18} color={grey} aria-hidden />}
        />
      </CountLink>
      <CountLink link={{ to: '/runs', search: { state: 'queued' } }}>
        <MetricCard
          label={t('overview.queued')}
          value={<Count value={runs.queued} />}
          icon={<IconClock size={18} color={grey} aria-hidden />}
        />
      </CountLink>
      <CountLink link={{ to: '/labeling' }}>
        <MetricCard
          label={t('overview.openLabels')}
          value={<Count value={labeling.open_items} />}
          icon={<IconPolygon size={18} color={grey} aria-hidden />}
        />
      </CountLink>
    </SimpleGrid>
  );
}

function CountLink({ link, children }: { link: LinkProps; children: ReactNode }) {
  return (
    <Link {...link} className={classes.card}>
      {children}
    </Link>
  );
}
