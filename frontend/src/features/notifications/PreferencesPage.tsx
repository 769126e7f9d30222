import { Alert, Card, Select, Skeleton, Switch, Table, Text } from '@mantine/core';
import { IconMailOff } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Preference } from '@/api/contract/notifications';
import { ErrorState } from '@/shared/ui/ErrorState';
import { ButtonLink } from '@/shared/ui/links';
import { Page } from '@/shared/ui/Page';
import { PageHeader } from '@/shared/ui/PageHeader';
import { notifyError } from '@/shared/ui/undo';
import { DailyMail } from './DailyMail';
import classes from './notifications.module.css';
import { type Change, type Changes, useChangePreference, usePreferences } from './queries';
import { TOPICS } from './topics';

const MAILS = ['now', 'daily', 'never'] as const;

/** The ways of notifications: per topic, in the portal and by mail. A choice is kept at once. */
export function PreferencesPage() {
  const { t } = useTranslation();
  const { data, error, refetch } = usePreferences();
  const change = useChangePreference();
  const send = (body: Changes) => change.mutate({ body }, { onError: notifyError });
  const save = (topic: Change) => send({ topics: [topic] });
  const sorted = TOPICS.flatMap((name) => data?.topics.filter(({ topic }) => topic === name) ?? []);
  return (
    <Page>
      <PageHeader title={t('notifications.prefTitle')} subtitle={t('notifications.prefSubtitle')}>
        <ButtonLink to="/notifications" variant="default">
          {t('notifications.title')}
        </ButtonLink>
      </PageHeader>
      {error && <ErrorState error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton height={360} aria-busy />}
      {data && !data.sends_mail && <NoMail>{t('notifications.noMail')}</NoMail>}
      {data?.sends_mail && !data.has_address && <NoMail>{t('notifications.noAddress')}</NoMail>}
      {data && (
        <DailyMail
          time={data.daily}
          isSent={data.sends_mail && data.has_address}
          isUsed={data.topics.some(({ mail }) => mail === 'daily')}
          onChange={(daily) => send({ daily })}
        />
      )}
      {data && (
        <Card p={0}>
          <Table aria-label={t('notifications.prefTitle')} verticalSpacing="sm">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t('notifications.topic')}</Table.Th>
                <Table.Th style={{ whiteSpace: 'nowrap' }}>{t('notifications.inApp')}</Table.Th>
                <Table.Th>{t('notifications.mail')}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {sorted.map((one) => (
                <Row key={one.topic} one={one} onChange={save} />
              ))}
            </Table.Tbody>
          </Table>
        </Card>
      )}
    </Page>
  );
}

function NoMail({ children }: { children: string }) {
  return (
    <Alert color="yellow" icon={<IconMailOff size={18} />} mb="md">
      {children}
    </Alert>
  );
}

function Row({ one, onChange }: { one: Preference; onChange: (change: Change) => void }) {
  const { t } = useTranslation();
  const { topic, in_app, mail, is_fixed } = one;
  const name = t(`notifications.topics.${topic}`);
  return (
    <Table.Tr>
      <Table.Td>
        <Text size="sm" fw={550}>
          {name}
        </Text>
        <Text size="xs" c="dimmed">
          {t(`notifications.topicHints.${topic}`)}
          {is_fixed && <br />}
          {is_fixed && t('notifications.fixed')}
        </Text>
      </Table.Td>
      <Table.Td>
        <Switch
          aria-label={t('notifications.inAppOf', { name })}
          checked={in_app}
          disabled={is_fixed}
          classNames={{ track: classes.track }}
          onChange={(event) => onChange({ topic, in_app: event.currentTarget.checked })}
        />
      </Table.Td>
      <Table.Td>
        <Select
          size="xs"
          w={110}
          aria-label={t('notifications.mailOf', { name })}
          data={MAILS.map((value) => ({ value, label: t(`notifications.mails.${value}`) }))}
          value={mail}
          disabled={is_fixed}
          allowDeselect={false}
          onChange={(value) => onChange({ topic, mail: value as Change['mail'] })}
        />
      </Table.Td>
    </Table.Tr>
  );
}
