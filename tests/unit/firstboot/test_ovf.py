"""The OVF environment as vSphere writes it, and invalid ones."""

from __future__ import annotations

import pytest

from appliance.errors import ValidationFailed
from appliance.firstboot.ovf import properties

VSPHERE = """<?xml version="1.0" encoding="UTF-8"?>
<Environment
     xmlns="http://schemas.dmtf.org/ovf/environment/1"
     xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
     xmlns:oe="http://schemas.dmtf.org/ovf/environment/1"
     xmlns:ve="http://www.vmware.com/schema/ovfenv"
     oe:id=""
     ve:vCenterId="vm-42">
   <PlatformSection>
      <Kind>VMware ESXi</Kind><Version>7.0.3</Version><Vendor>VMware, Inc.</Vendor><Locale>en</Locale>
   </PlatformSection>
   <PropertySection>
         <Property oe:key="hostname" oe:value="r1"/>
         <Property oe:key="com.example.millrace.dns_servers" oe:value="192.0.2.53"/>
         <Property oe:key="management_address" oe:value=""/>
         <Property oe:key="configuration" oe:value="{&quot;system&quot;: {}}"/>
   </PropertySection>
   <ve:EthernetAdapterSection><ve:Adapter ve:mac="00:50:56:00:00:01"/></ve:EthernetAdapterSection>
   <Entity oe:id="another">
      <PropertySection><Property oe:key="hostname" oe:value="another"/></PropertySection>
   </Entity>
</Environment>
"""


def test_the_machines_own_properties() -> None:
    assert properties(VSPHERE.encode()) == {
        "instance_id": "ovf",
        "hostname": "r1",
        "dns_servers": "192.0.2.53",
        "configuration": '{"system": {}}',
    }


@pytest.mark.parametrize(
    ("xml", "words"),
    [
        (b"", "is not XML"),
        (b"<Environment/>", "is not an OVF environment"),
        (VSPHERE[:400].encode(), "is not XML"),
        (
            b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/shadow">]>' + VSPHERE.partition("\n")[2].encode(),
            "document type",
        ),
    ],
)
def test_others_are_refused(xml: bytes, words: str) -> None:
    with pytest.raises(ValidationFailed, match=words):
        properties(xml)


def test_too_many_properties() -> None:
    many = "".join(f'<Property oe:key="k{number}" oe:value="v"/>' for number in range(300))
    with pytest.raises(ValidationFailed, match="more than 256"):
        properties(
            VSPHERE.replace('<Property oe:key="hostname"', many + '<Property oe:key="hostname"').encode()
        )
