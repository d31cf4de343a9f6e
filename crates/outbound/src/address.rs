use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What an address is when it is not one of the public internet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Range {
    Unspecified,
    Loopback,
    Private,
    /// Between a provider and its customers.
    Shared,
    LinkLocal,
    UniqueLocal,
    Multicast,
    Documentation,
    Benchmark,
    /// An IPv4 address in the clothes of IPv6, which no name has a reason to lead to.
    Mapped,
    /// Of the cloud that a machine runs in, though it looks like any other.
    Platform,
    Reserved,
}

/// From the special-purpose registry of IANA. What it calls globally reachable is left out.
const V4: &[(Ipv4Addr, u32, Range)] = &[
    (Ipv4Addr::new(0, 0, 0, 0), 8, Range::Unspecified),
    (Ipv4Addr::new(10, 0, 0, 0), 8, Range::Private),
    (Ipv4Addr::new(100, 64, 0, 0), 10, Range::Shared),
    (Ipv4Addr::new(127, 0, 0, 0), 8, Range::Loopback),
    (Ipv4Addr::new(168, 63, 129, 16), 32, Range::Platform),
    (Ipv4Addr::new(169, 254, 0, 0), 16, Range::LinkLocal),
    (Ipv4Addr::new(172, 16, 0, 0), 12, Range::Private),
    (Ipv4Addr::new(192, 0, 0, 0), 24, Range::Reserved),
    (Ipv4Addr::new(192, 0, 2, 0), 24, Range::Documentation),
    (Ipv4Addr::new(192, 88, 99, 0), 24, Range::Reserved),
    (Ipv4Addr::new(192, 168, 0, 0), 16, Range::Private),
    (Ipv4Addr::new(198, 18, 0, 0), 15, Range::Benchmark),
    (Ipv4Addr::new(198, 51, 100, 0), 24, Range::Documentation),
    (Ipv4Addr::new(203, 0, 113, 0), 24, Range::Documentation),
    (Ipv4Addr::new(224, 0, 0, 0), 4, Range::Multicast),
    (Ipv4Addr::new(240, 0, 0, 0), 4, Range::Reserved),
];

/// The first that matches counts.
const V6: &[(Ipv6Addr, u32, Range)] = &[
    (Ipv6Addr::UNSPECIFIED, 128, Range::Unspecified),
    (Ipv6Addr::LOCALHOST, 128, Range::Loopback),
    (Ipv6Addr::UNSPECIFIED, 96, Range::Mapped),
    (Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, 0, 0), 96, Range::Mapped),
    (Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, 0), 48, Range::Benchmark),
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23, Range::Reserved),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32, Range::Documentation),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20, Range::Documentation),
    (Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0), 7, Range::UniqueLocal),
    (Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0), 10, Range::LinkLocal),
    (Ipv6Addr::new(0xff00, 0, 0, 0, 0, 0, 0, 0), 8, Range::Multicast),
];

/// Where public addresses of IPv6 are.
const GLOBAL_UNICAST: (Ipv6Addr, u32) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);
const SIX_TO_FOUR: (Ipv6Addr, u32) = (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16);
const NAT64: (Ipv6Addr, u32) = (Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0), 96);

/// Why an address is not reached without an allowance; nothing for a public one.
#[must_use]
pub fn special(address: IpAddr) -> Option<Range> {
    let address = match address {
        IpAddr::V4(address) => return special_v4(address),
        IpAddr::V6(address) => address,
    };
    if let Some(inner) = embedded(address) {
        return special_v4(inner);
    }
    let found = V6.iter().find(|(network, bits, _)| is_in(address, (*network, *bits)));
    match found {
        Some((.., range)) => Some(*range),
        None => (!is_in(address, GLOBAL_UNICAST)).then_some(Range::Reserved),
    }
}

/// The address that a translator on the way would send it to.
pub(crate) fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [_, _, a, b, c, d, .., w, x, y, z] = address.octets();
    if is_in(address, SIX_TO_FOUR) {
        return Some(Ipv4Addr::new(a, b, c, d));
    }
    is_in(address, NAT64).then(|| Ipv4Addr::new(w, x, y, z))
}

fn special_v4(address: Ipv4Addr) -> Option<Range> {
    let same =
        |network: Ipv4Addr, bits: u32| (address.to_bits() ^ network.to_bits()) >> (32 - bits) == 0;
    V4.iter().find(|(network, bits, _)| same(*network, *bits)).map(|(.., range)| *range)
}

fn is_in(address: Ipv6Addr, (network, bits): (Ipv6Addr, u32)) -> bool {
    (address.to_bits() ^ network.to_bits()) >> (128 - bits) == 0
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unspecified => "an address of no particular host",
            Self::Loopback => "an address of this machine itself",
            Self::Private => "a private address",
            Self::Shared => "an address that providers share among their customers",
            Self::LinkLocal => "a link-local address",
            Self::UniqueLocal => "a unique local address",
            Self::Multicast => "a multicast address",
            Self::Documentation => "an address for documentation",
            Self::Benchmark => "an address for benchmarks",
            Self::Mapped => "an IPv4 address written as IPv6",
            Self::Platform => "an address of the cloud's own services",
            Self::Reserved => "a reserved address",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(address: &str, expected: Option<Range>) {
        assert_eq!(special(address.parse().unwrap()), expected, "{address}");
    }

    #[test]
    fn every_special_range_of_ipv4_is_known_to_its_edges() {
        for (first, last, range) in [
            ("0.0.0.0", "0.255.255.255", Range::Unspecified),
            ("10.0.0.0", "10.255.255.255", Range::Private),
            ("100.64.0.0", "100.127.255.255", Range::Shared),
            ("127.0.0.0", "127.255.255.255", Range::Loopback),
            ("168.63.129.16", "168.63.129.16", Range::Platform),
            ("169.254.0.0", "169.254.255.255", Range::LinkLocal),
            ("172.16.0.0", "172.31.255.255", Range::Private),
            ("192.0.0.0", "192.0.0.255", Range::Reserved),
            ("192.0.2.0", "192.0.2.255", Range::Documentation),
            ("192.88.99.0", "192.88.99.255", Range::Reserved),
            ("192.168.0.0", "192.168.255.255", Range::Private),
            ("198.18.0.0", "198.19.255.255", Range::Benchmark),
            ("198.51.100.0", "198.51.100.255", Range::Documentation),
            ("203.0.113.0", "203.0.113.255", Range::Documentation),
            ("224.0.0.0", "239.255.255.255", Range::Multicast),
            ("240.0.0.0", "255.255.255.255", Range::Reserved),
        ] {
            check(first, Some(range));
            check(last, Some(range));
            let (first, last): (Ipv4Addr, Ipv4Addr) =
                (first.parse().unwrap(), last.parse().unwrap());
            let before = first.to_bits().checked_sub(1);
            for beside in before.into_iter().chain(last.to_bits().checked_add(1)) {
                let beside = Ipv4Addr::from_bits(beside);
                // Multicast ends where the reserved ones begin.
                let expected = match beside.octets()[0] {
                    239 => Some(Range::Multicast),
                    240 => Some(Range::Reserved),
                    _ => None,
                };
                check(&beside.to_string(), expected);
            }
        }
    }

    #[test]
    fn only_global_unicast_addresses_of_ipv6_are_public() {
        for (address, expected) in [
            ("::", Some(Range::Unspecified)),
            ("::1", Some(Range::Loopback)),
            ("::2", Some(Range::Mapped)),
            ("::7f00:1", Some(Range::Mapped)),
            ("::ffff:127.0.0.1", Some(Range::Mapped)),
            ("::ffff:8.8.8.8", Some(Range::Mapped)),
            ("::ffff:0:127.0.0.1", Some(Range::Reserved)),
            ("100::1", Some(Range::Reserved)),
            ("64:ff9b:1::7f00:1", Some(Range::Reserved)),
            ("1fff:ffff::", Some(Range::Reserved)),
            ("2000::", None),
            ("2001::1", Some(Range::Reserved)),
            ("2001:2::1", Some(Range::Benchmark)),
            ("2001:1ff:ffff::", Some(Range::Reserved)),
            ("2001:200::", None),
            ("2001:db8::1", Some(Range::Documentation)),
            ("2001:db9::1", None),
            ("2606:4700:4700::1111", None),
            ("2a00:1450:4001:800::200e", None),
            ("3fff:fff:ffff::", Some(Range::Documentation)),
            ("3fff:1000::", None),
            ("4000::", Some(Range::Reserved)),
            ("5f00::1", Some(Range::Reserved)),
            ("fbff::", Some(Range::Reserved)),
            ("fc00::", Some(Range::UniqueLocal)),
            ("fd00:ec2::254", Some(Range::UniqueLocal)),
            ("fe80::1", Some(Range::LinkLocal)),
            ("febf:ffff::", Some(Range::LinkLocal)),
            ("fec0::1", Some(Range::Reserved)),
            ("ff02::1", Some(Range::Multicast)),
        ] {
            check(address, expected);
        }
    }

    #[test]
    fn an_address_inside_another_one_is_checked_itself() {
        for (address, expected) in [
            ("64:ff9b::8.8.8.8", None),
            ("64:ff9b::10.0.0.5", Some(Range::Private)),
            ("64:ff9b::169.254.169.254", Some(Range::LinkLocal)),
            ("64:ff9b::127.0.0.1", Some(Range::Loopback)),
            ("2002:808:808::1", None),
            ("2002:7f00:1::", Some(Range::Loopback)),
            ("2002:c0a8:101::1", Some(Range::Private)),
        ] {
            check(address, expected);
        }
    }
}
