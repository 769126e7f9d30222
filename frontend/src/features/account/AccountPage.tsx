import { Badge, Button, Card, Group, Stack, Title } from '@mantine/core';
import { IconDevices } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Browser } from '@/api/contract/accounts';
import { useHiding } from '@/shared/domain/useHiding';
import { type Column, DataTable } from '@/shared/grid/DataTable';
import { EmptyState } from '@/shared/ui/EmptyState';
import { EndButton } from '@/shared/ui/EndButton';
import { Page } from '@/shared/ui/Page';
import { PageHeader } from '@/shared/ui/PageHeader';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { confirmUndo, notifySuccess } from '@/shared/ui/undo';
import { Appearance } from './Appearance';
import { PasswordForm } from './PasswordForm';
import { endOtherSessions, endSession, useRefreshSessions, useSessions } from './queries';
import { SecondFactorSection } from './SecondFactorSection';

/** One's own password and sessions. */
export function AccountPage() {
  const { t } = useTranslation();
  return (
    <Page>
      <PageHeader title={t('people.accountTitle')} subtitle={t('people.accountSubtitle')} />
      <Stack gap="lg">
        <SecondFactorSection />
        <PasswordForm />
        <Appearance />
        {/* Last: how many rows it has is not known before, and nothing below it moves. */}
        <Sessions />
      </Stack>
    </Page>
  );
}

function Sessions() {
  const { t } = useTranslation();
  const sessions = useSessions();
  const refresh = useRefreshSessions();
  const { hidden, end } = useHiding();
  const nameOf = useName();
  const endOne = (session: Browser) => {
    const name = nameOf(session);
    end(session.id, {
      message: t('people.sessionEnding', { name }),
      done: t('people.sessionEnded', { name }),
      send: () => endSession(session.id),
      refresh,
    });
  };
  const endOthers = () =>
    confirmUndo({
      message: t('people.othersEnding'),
      commit: async () => {
        await endOtherSessions();
        notifySuccess(t('people.othersEnded'));
        await refresh();
      },
      rollback: () => {},
    });
  const others = sessions.rows?.some(({ is_current }) => !is_current) ?? false;
  return (
    <section aria-label={t('people.sessionsTitle')}>
      <Group justify="space-between" mb="xs">
        <Title order={2} fz={16}>
          {t('people.sessionsTitle')}
        </Title>
        <Button size="xs" variant="default" onClick={endOthers} disabled={!others}>
          {t('people.endOthers')}
        </Button>
      </Group>
      <Card p={0}>
        <DataTable
          {...sessions}
          rows={sessions.rows?.filter(({ id }) => !hidden.has(id))}
          label={t('people.sessionsTitle')}
          columns={useColumns(endOne)}
          rowKey={({ id }) => id}
          empty={<EmptyState icon={IconDevices} title={t('common.empty')} />}
        />
      </Card>
    </section>
  );
}

/** A browser in plain words: "Firefox on Linux". */
function useName() {
  const { t } = useTranslation();
  return ({ browser, system }: Browser) =>
    browser && system ? t('people.deviceOn', { browser, system }) : browser || system || t('people.unknownDevice');
}

function useColumns(end: (session: Browser) => void): Column<Browser>[] {
  const { t } = useTranslation();
  const nameOf = useName();
  return [
    {
      key: 'device',
      header: t('people.device'),
      cell: (session) => (
        <Group gap={6}>
          {nameOf(session)}
          {session.is_current && (
            <Badge size="sm" color="teal">
              {t('people.thisSession')}
            </Badge>
          )}
        </Group>
      ),
    },
    { key: 'address', header: t('people.address'), from: 'sm', cell: ({ ip_address }) => ip_address ?? '–' },
    { key: 'seen', header: t('people.lastSeen'), cell: ({ last_seen_at }) => <RelativeTime at={last_seen_at} /> },
    {
      key: 'since',
      header: t('people.signedIn'),
      from: 'md',
      cell: ({ created_at }) => <RelativeTime at={created_at} />,
    },
    {
      key: 'end',
      header: t('common.actions'),
      align: 'right',
      cell: (session) =>
        !session.is_current && (
          <EndButton
            label={t('people.endSession')}
            name={t('people.endSessionName', { name: nameOf(session) })}
            onEnd={() => end(session)}
          />
        ),
    },
  ];
}
