import { MantineProvider } from '@mantine/core';
import { render, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { type Language, setLanguage } from '@/i18n';
import { Password } from './Password';

afterEach(() => setLanguage('en'));

test.each<[Language, string]>([
  ['en', 'Show or hide the password'],
  ['zh', '显示或隐藏密码'],
])('the button that shows a password is named in %s', async (language, name) => {
  await setLanguage(language);
  render(
    <MantineProvider env="test">
      <Password label="Password" />
    </MantineProvider>,
  );
  expect(screen.getByLabelText(name).tagName).toBe('BUTTON');
});
