import { Card, Center, Group, Stack, Text, Title } from '@mantine/core';
import { type FormEvent, type ReactNode, useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { Logo } from '@/shared/ui/Logo';

interface FrameProps {
  title: string;
  subtitle?: string;
  onSubmit?: (event: FormEvent<HTMLFormElement>) => void;
  children: ReactNode;
}

/** A page for somebody who is not signed in. */
export function Frame({ title, subtitle, onSubmit, children }: FrameProps) {
  const { t } = useTranslation();
  useEffect(() => {
    document.title = [title, 'Atom'].join(' · ');
  }, [title]);
  const body = <Stack>{children}</Stack>;
  return (
    <Center component="main" mih="100dvh" p="md">
      <Stack w={{ base: '100%', xs: 400 }} gap="lg">
        <Group gap="sm" justify="center" wrap="nowrap">
          <Logo size={40} />
          <div style={{ minWidth: 0, overflowWrap: 'anywhere' }}>
            <Title order={1} fz={20}>
              {title}
            </Title>
            <Text size="sm" c="dimmed">
              {subtitle ?? t('auth.subtitle')}
            </Text>
          </div>
        </Group>
        {onSubmit ? (
          <Card padding="lg" component="form" onSubmit={onSubmit} noValidate>
            {body}
          </Card>
        ) : (
          <Card padding="lg">{body}</Card>
        )}
      </Stack>
    </Center>
  );
}
