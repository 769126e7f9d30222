import { IconBox, IconDatabase } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Dataset } from '@/api/contract/datasets';
import type { RecentModel } from '@/api/contract/overview';
import { CommandLine } from '@/shared/ui/CommandLine';
import { EmptyState } from '@/shared/ui/EmptyState';
import { AnchorLink } from '@/shared/ui/links';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { Bytes, Count } from '@/shared/ui/values';
import classes from './overview.module.css';
import { Section } from './Section';

export function RecentDatasets({ datasets }: { datasets: Dataset[] }) {
  const { t } = useTranslation();
  const command = <CommandLine command="atom data push ./folder digits" />;
  return (
    <Section title={t('overview.recentDatasets')} all={<AnchorLink to="/datasets">{t('overview.seeAll')}</AnchorLink>}>
      {datasets.length === 0 && (
        <EmptyState compact icon={IconDatabase} title={t('overview.noDatasets')} action={command} />
      )}
      {datasets.map(({ id, name, latest, updated_at }) => (
        <Link key={id} to="/datasets/$name" params={{ name }} className={classes.row}>
          <div className={classes.line}>
            <span className={classes.name} title={name}>
              {name}
              {latest && <span className={classes.detail}> {latest.ref}</span>}
            </span>
            <span className={classes.detail}>
              {latest && (
                <>
                  <Count value={latest.file_count} /> · <Bytes value={latest.size_bytes} /> ·{' '}
                </>
              )}
              <RelativeTime at={updated_at} />
            </span>
          </div>
        </Link>
      ))}
    </Section>
  );
}

export function RecentModels({ models }: { models: RecentModel[] }) {
  const { t } = useTranslation();
  return (
    <Section title={t('overview.recentModels')} all={<AnchorLink to="/models">{t('overview.seeAll')}</AnchorLink>}>
      {models.length === 0 && <EmptyState compact icon={IconBox} title={t('overview.noModels')} />}
      {models.map(({ id, name, latest, updated_at }) => (
        <Link key={id} to="/models/$name" params={{ name }} className={classes.row}>
          <div className={classes.line}>
            <span className={classes.name} title={name}>
              {name}
              {latest && <span className={classes.detail}> {t('overview.versionOf', { number: latest.number })}</span>}
            </span>
            <span className={classes.detail}>
              <RelativeTime at={updated_at} />
            </span>
          </div>
        </Link>
      ))}
    </Section>
  );
}
