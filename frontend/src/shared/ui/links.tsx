import {
  ActionIcon,
  type ActionIconProps,
  Anchor,
  type AnchorProps,
  Button,
  type ButtonProps,
  Menu,
  type MenuItemProps,
  NavLink,
  type NavLinkProps,
} from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { AnchorHTMLAttributes, Ref } from 'react';

type Native = Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'color' | 'style'> & { ref?: Ref<HTMLAnchorElement> };

// `createLink` gives Mantine's looks the router's typed `to`, `params` and `search`, and preloading on hover.
export const AnchorLink = createLink((props: AnchorProps & Native) => <Anchor component="a" {...props} />);
export const ButtonLink = createLink((props: ButtonProps & Native) => <Button component="a" {...props} />);
export const IconLink = createLink((props: ActionIconProps & Native) => <ActionIcon component="a" {...props} />);
export const NavRouterLink = createLink((props: NavLinkProps & Native) => <NavLink component="a" {...props} />);
export const MenuLink = createLink((props: MenuItemProps & Native) => <Menu.Item component="a" {...props} />);

/** The server's page of the API: no page of the portal. */
export const API_DOCS = '/api/v1/docs/';
