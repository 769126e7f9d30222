import { Button, Group } from '@mantine/core';
import { useNavigate, useRouterState } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { signingOut } from '../domain/signingOut';
import { ButtonLink } from './links';

/** Ways out of a page that one may not open: to one that everybody may, or to it as somebody else. */
export function ForbiddenWays() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const next = useRouterState({ select: ({ location }) => location.href });
  const leave = () => void signingOut.run().then(() => navigate({ to: '/login', search: { next } }));
  return (
    <Group gap="xs" justify="center">
      <ButtonLink to="/" variant="default">
        {t('errors.toOverview')}
      </ButtonLink>
      <Button variant="subtle" onClick={leave}>
        {t('errors.otherPerson')}
      </Button>
    </Group>
  );
}
