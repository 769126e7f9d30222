import { Button, Group } from '@mantine/core';
import { IconLayoutDashboard, IconLogout } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useNavigate, useRouterState } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { ButtonLink } from './links';
import { signingOut } from './signingOut';

/** Ways out of a page that one may not open: to one that everybody may, or to it as somebody else. */
export default function ForbiddenWays() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const next = useRouterState({ select: ({ location }) => location.href });
  const leave = useMutation({
    mutationFn: () => signingOut.run(),
    onSuccess: () => navigate({ to: '/login', search: { next } }),
  });
  return (
    <Group gap="xs" justify="center">
      <ButtonLink to="/" variant="default" leftSection={<IconLayoutDashboard size={15} />}>
        {t('errors.toOverview')}
      </ButtonLink>
      <Button
        variant="subtle"
        leftSection={<IconLogout size={15} />}
        loading={leave.isPending}
        onClick={() => leave.mutate()}
      >
        {t('errors.otherPerson')}
      </Button>
    </Group>
  );
}
